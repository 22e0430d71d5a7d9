package webhook_test

import (
	"fmt"
	"time"

	"vmsbridge/uplink/webhook"
)

// What a receiver does with a request.
func ExampleVerify() {
	secret, body := "shared with the bridge", []byte(`{"type":"vms.motionDetectionEvent.v1"}`)
	sent := time.Unix(1795244400, 0)
	header := webhook.Sign(secret, sent, body)
	fmt.Println(webhook.Verify(secret, header, body, sent.Add(time.Second), 5*time.Minute))
	fmt.Println(webhook.Verify(secret, header, body, sent.Add(time.Hour), 5*time.Minute) != nil)
	// Output:
	// <nil>
	// true
}
