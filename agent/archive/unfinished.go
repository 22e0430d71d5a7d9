package archive

import (
	"fmt"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// CloseUnfinished ends the spans that a crash or a power cut left ongoing, at their last known
// activity, so that the service does not show a motion that lasts for ever. The outlet writes them:
// a disk that is full now must not keep the bridge from starting.
func (s *Archive) CloseUnfinished() error {
	open, err := s.Journal.Unfinished()
	if err != nil {
		return fmt.Errorf("read the spans of the last run: %w", err)
	}
	for _, o := range open {
		if !Ours(o.Event) {
			continue
		}
		if s.left.take(s.opts.Config().Cameras, o) {
			continue
		}
		s.endStored(o)
	}
	s.Events.Flush() // before the clock may give them other times
	return nil
}

// endStored ends a span of an earlier run at its last known activity.
func (s *Archive) endStored(o journal.Ongoing) {
	ev, end := o.Event, o.Last
	if end.Before(ev.StartTimestamp.Time) {
		end = ev.StartTimestamp.Time
	}
	ev.EndTimestamp = vms.Ptr(end)
	s.Events.PutStored(ev)
	s.log.Info("ended a span that the last run left open", "id", ev.ID, "end", ev.EndTimestamp.String())
}

// Ours reports whether the bridge itself made the event; another program's ongoing event is that
// program's to end. An event of before owners were kept is told by its creator.
func Ours(ev vms.Event) bool {
	return ev.Owner == vms.OwnerSelf || ev.Owner == "" &&
		(ev.CreatorID == vms.CreatorMotion || ev.CreatorID == vms.CreatorHealth)
}
