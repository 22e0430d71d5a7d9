package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// An event is durable when Put returns, and leaves the outbox when the service has it.
func ExampleJournal() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	j, err := journal.Open(filepath.Join(dir, "journal.db"), journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer j.Close()
	start := time.Date(2026, 11, 21, 7, 10, 0, 0, time.UTC)
	end := vms.At(start.Add(time.Second))
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(start), EndTimestamp: &end, ActorID: "gate",
		ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
	ev.ID = ev.NaturalID()
	fmt.Println(j.Put(ev, true))
	page, err := j.List(vms.Query{PageSize: 10}, nil)
	fmt.Println(len(page.Events), err)
	// Output:
	// <nil>
	// 1 <nil>
}
