package tamper

import (
	"fmt"
)

func (w *Watch) Debug() string {
	m := w.refs[w.active].compare(w.grid, &w.now)
	return fmt.Sprintf("blocks %d gone %.2f weak %.2f fit %.2f signed %.2f con %.2f gain %.2f level %.0f bright %.3f stir %.2f doubt %v %v sharp %.2f usual %.2f active %d still: steady %v slack %v alive %v known %v", m.blocks, m.gone, m.weak, m.fit, m.signed, m.contrast, m.gain, w.now.level, w.now.bright, w.now.stir, w.doubt.weight, w.doubt.tally, w.sharp, w.refs[w.active].sharp, w.active, w.still.steady, w.still.slack, w.still.alive, w.still.known)
}
