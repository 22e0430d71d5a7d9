// Package clock is the agent's one source of time. A box without a clock battery boots in 1970, or
// some days ago; later the clock steps. Nothing that the bridge records may end up at such a time,
// and none of it may leave before it is right.
//
// So there are two times. The *scale* (Now) is the machine's time since boot plus a constant: it
// never steps, whatever is done to the wall clock, and the cameras' and pipelines' times are all on
// it. The *true* time of a moment of the scale is what the stores are given, by Stamp:
//
//	agent/camera, agent/pipeline (Now) → scale → Stamp → true time
//	→ storage/stills, storage/journal → Wait → uplink/delivery
//
// Until the clock is true the two are the same, and what is stored is marked as of an *era*; when
// it becomes true, the amount by which the era was wrong is known (the boot and its monotonic time
// stand beside the wall time), both stores put right what they have of it, and what they get of it
// later, and only then Wait lets events out. A span that began before goes on as if nothing had
// happened.
//
// The clock is true (Source) when the kernel says that it is synchronised; or when it is plausible
// and the service's answers show the same time, to about a second; or when it was set to a
// plausible time and has run for half a minute since, as one-shot programs set it; or, where none
// of these comes although the service has been answering for Options.Wait, when it is plausible in
// itself, or else by the service's own word (the Date of its answers); without a service, when it
// is plausible and the machine has been running for a minute, or keeps the time while it is off.
// Plausible is what is not before the
// program was built, nor before what the bridge already knew to be true, and agrees with the
// service, if that is known by TLS. Once true, it goes on being so until the next boot: a step that
// the kernel does not vouch for is not followed at once, nor is the clock doubted because NTP is
// away for a day; State.Beside says meanwhile how far the machine's clock is off. What was recorded
// while it was true keeps its time, whatever comes.
//
// While the clock is untrue, the scale goes by the oscillator's own rate, as it was measured when
// the clock was true (rate.go), so that the first record of a long era is as right as its last.
//
// An era whose boot ended without a true time is placed as late as possible before the next boot,
// and its events say so.
//
//	c := clock.New(clock.Options{Machine: clock.System(), Wait: 10 * time.Minute, Log: log})
//	err := c.Open(journal, stores)
//	go c.Run(ctx)
//	at, era := c.Stamp()
//	err = store(at(moment), era) // may take as long as the disk does
package clock
