package camera

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuotedParam(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`realm="a", opaque="b"`, "b"}, {`opaque="b"`, "b"}, {`realm="a",OPAQUE="b", x="y"`, "b"},
		{`xopaque="b"`, ""}, {`opaque="b`, ""}, {`opaque=b`, ""}, {"", ""}, {"\xff\xfeİ opaque=\"b\"", "b"},
	} {
		got, _ := quotedParam(tc.in, "opaque")
		require.Equal(t, tc.want, got, tc.in)
	}
}
