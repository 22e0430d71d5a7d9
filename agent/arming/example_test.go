package arming_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"vmsbridge/agent/arming"
	"vmsbridge/configs"
)

// memory keeps what was switched by hand, as the journal does.
type memory map[string][]byte

func (m memory) Meta(key string) ([]byte, error) { return m[key], nil }

func (m memory) SetMeta(key string, value []byte) error {
	m[key] = value
	return nil
}

// A camera that is armed at night is armed by hand at noon, until its schedule's next change.
func Example() {
	cfg, err := configs.Parse("vmsbridge.yaml", []byte(`
arm: { schedule: ["18:00-07:00"], time_zone: UTC }
cameras: [{ id: gate, url: "rtsp://10.0.0.5/1" }]`))
	if err != nil {
		panic(err)
	}
	noon := time.Date(2026, 3, 26, 12, 0, 0, 0, time.UTC)
	a := arming.Open(arming.Options{Config: func() *configs.Config { return cfg }, Memory: memory{},
		Now: func() (time.Time, bool) { return noon, true }, Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = a.Run(ctx) }()

	list, err := a.Switch(ctx, arming.Wish{Cameras: []string{"gate"}, Armed: true})
	fmt.Println(list[0].Armed, list[0].Until.UTC().Format("15:04"), err)
	cancel()
	<-done
	// Output: true 18:00 <nil>
}
