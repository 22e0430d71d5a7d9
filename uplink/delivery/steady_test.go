package delivery

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A clock that is set begins anew; one that is slewed does not.
func TestSteady(t *testing.T) {
	require.True(t, stepped(time.Hour, time.Hour+2*clockSlack))
	require.True(t, stepped(time.Hour, time.Hour-2*clockSlack))
	require.False(t, stepped(time.Hour, time.Hour+clockSlack/2))
}
