package motion

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnlitComesBack: a cell that a light fell on and that looks as before is what it was at once,
// and no flag is left; one that looks otherwise stays what it was taken for, and after ten seconds
// the darkness is forgotten.
func TestUnlitComesBack(t *testing.T) {
	var u unlit
	u.resize(3)
	m := model{background: []uint16{50 << 8, 50 << 8, 50 << 8}, noise: []uint16{256, 256, 256}}
	u.keep(0, m.background[0])
	u.keep(1, m.background[1])
	m.background[0], m.background[1] = 80<<8, 80<<8 // the background followed the light
	u.keep(0, m.background[0])                      // which is still there: what was before it stays known
	now := []uint16{51 << 8, 70 << 8, 90 << 8}
	flags := []byte{cellFore | cellMoved, cellFore, cellFore}
	u.restore(&m, m.noise, now, flags, 6<<8)
	require.Equal(t, []uint16{50 << 8, 80 << 8, 50 << 8}, m.background)
	require.Equal(t, []byte{0, cellFore, cellFore}, flags)
	u.pass(9900)
	require.True(t, u.knows(1))
	u.pass(100)
	require.False(t, u.knows(0) || u.knows(1))
	m.background[1] = 20 << 8
	u.restore(&m, m.noise, now, flags, 6<<8)
	require.Equal(t, uint16(20<<8), m.background[1])
}
