package trust

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTrustNeedsWhatItNames(t *testing.T) {
	_, err := New(t.TempDir()+"/none.pem", "")
	require.ErrorContains(t, err, "read certificate authorities")
	_, err = New("trust_test.go", "")
	require.ErrorContains(t, err, "holds no certificate")
	_, err = New("", "abc")
	require.ErrorContains(t, err, "SHA-256")
	c, err := New("", "")
	require.NoError(t, err)
	require.False(t, c.InsecureSkipVerify)
}
