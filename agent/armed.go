package agent

import (
	"context"

	"vmsbridge/agent/arming"
)

// armed is before which cameras motion makes events; changed is closed when that is otherwise.
func (a *Agent) armed() (armed map[string]bool, changed <-chan struct{}) {
	list, changed := a.arming.States()
	armed = map[string]bool{}
	for _, s := range list {
		armed[s.Camera] = s.Armed
	}
	return armed, changed
}

// arm arms or disarms a camera, "" all, as somebody at the MQTT broker wishes.
func (a *Agent) arm(ctx context.Context, camera string, armed bool) error {
	w := arming.Wish{Armed: armed, By: "the MQTT broker"}
	if camera != "" {
		w.Cameras = []string{camera}
	}
	_, err := a.arming.Switch(ctx, w)
	return err
}
