package health

import "slices"

// Remedies that several rows name.
const (
	lookAtDamage  = "vmsbridge fsck on the stopped bridge says more; if it comes again, replace the card"
	lighterStream = "make its stream lighter: a smaller picture, a lower bit rate or rate, or its second stream as " +
		"preview_url"
)

// checks is the table of all that can be wrong with a bridge, when it is, and what a person is
// told, the worst first: what loses events, then what keeps them from the service, then single
// cameras, then the rest. Status, page, metrics and support bundle show what it finds.
var checks = []struct {
	kind   Kind
	public string // for those without a token; "" says the text
	remedy string // what to do
	// holds returns a finding for each thing that is wrong.
	holds func(*Report) []finding
}{
	{NotRunning, "", "", notRunning},
	{Journal, "", "", journalRefuses},
	{Disk, "the disk that holds bridge.data is almost full",
		"something else than stills fills it; free space, or make stills.max_size smaller", diskAlmostFull},
	{Disk, "the disk that holds bridge.data has no room for another file",
		"it has no free inode: delete files there; events are stored meanwhile, and stills as far as their files go",
		one(func(r *Report) string {
			if !r.Disk.NoFiles {
				return ""
			}
			return "the disk that holds " + r.Disk.Path + " has no room for another file"
		})},
	{SlowDisk, "the disk that holds bridge.data is slow: events and stills are kept, and come later", slowDiskHint,
		diskSlow},
	{Damage, "the journal was found damaged at the start", lookAtDamage,
		one(func(r *Report) string { return r.Journal.Damaged })},
	{Damage, "the file of users was found damaged", lookAtDamage,
		one(func(r *Report) string { return r.Users.Damaged })},
	{Damage, "nobody can sign in at the bridge",
		"see the reason; tokens of the configuration still work, and all else runs", usersShut},
	{Damage, "some stills were found damaged", lookAtDamage, one(func(r *Report) string { return r.Stills.Damaged })},
	{Clock, "the clock is not known to be true, events wait", "see that the machine gets the time (NTP), or set it",
		one(func(r *Report) string { return r.ClockProblem })},
	{Clock, "the machine's clock was set to another time than the bridge goes by",
		"see that the machine gets the time (NTP: timedatectl), or set it right; a plausible time that stays is " +
			"believed after clock.wait",
		one(func(r *Report) string { return r.ClockBeside })},
	{SignIn, "", "", serviceRefuses},
	{Service, "", "", serviceFails},
	{Cameras, "not all cameras are online: the log and /api/v3.0/cameras?include=status say which",
		"vmsbridge probe --camera ID tries one and says what to do", camerasOffline},
	{Stuck, "a camera's pipeline stands still", "restart the bridge, and please report it with a support bundle",
		pipelinesStuck},
	{View, "", "look at the camera", viewsTampered},
	{Decoder, "the decoders cannot be asked", "vmsbridge version", decodersUnknown},
	{Decoder, "", "", decodersMissing},
	{Decoder, "", "the log says during whose picture it was: look at that camera's stream, and please report it",
		decodersDie},
	{Decoding, "a camera takes more than its share of decoding time: only its keyframes are decoded", lighterStream,
		overShare},
	{Decoding, "pictures of a camera are dropped, because decoding is behind",
		lighterStream + ", or have fewer cameras on this machine", picturesDropped},
	{Decoding, "packets of a camera are lost on their way, again and again", "", packetsLost},
	{Decoding, "the full-resolution stream of a camera cannot be decoded, and its stills are missing",
		"set the camera's full stream so, or name its lighter one as url, without a preview_url", mainRefused},
	{Configuration, "the configuration was edited and has problems; the bridge goes on with the one before: " +
		"vmsbridge check shows them",
		"correct it, then vmsbridge service reload", editRefused},
	{Restart, "a part of the configuration holds only after a restart", "vmsbridge service restart", restartNeeded},
	{Parked, "the service has refused events for good: vmsbridge queue list shows why",
		"vmsbridge queue list shows why", eventsParked},
	{Tunnel, "", "", one(func(r *Report) string {
		if r.Service == nil {
			return ""
		}
		return r.Service.TunnelProblem
	})},
	{Sink, "another sink of events does not take them: vmsbridge status says which", "", sinksFail},
}

// Kinds are those of a running bridge, the worst first.
var Kinds = func() (list []Kind) {
	for _, c := range checks {
		if c.kind != NotRunning && !slices.Contains(list, c.kind) {
			list = append(list, c.kind)
		}
	}
	return list
}()

// Judge fills in the report's problems: what the table finds, the worst first.
func (r *Report) Judge() {
	r.Problems = []Problem{}
	for _, c := range checks {
		for _, f := range c.holds(r) {
			p := Problem{Kind: c.kind, Text: f.text, Public: c.public, Hint: c.remedy}
			if f.public != "" {
				p.Public = f.public
			}
			if f.remedy != "" {
				p.Hint = f.remedy
			}
			r.Problems = append(r.Problems, p)
		}
	}
}

// Has reports whether something of a kind is wrong.
func (r *Report) Has(k Kind) bool {
	return slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Kind == k })
}
