package api

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLastOfTheOrderWins(t *testing.T) {
	order := []int{400, 401, 402, 460, 461, 412, 462}
	for name, c := range map[string]struct {
		held []int
		want int
	}{
		"nothing":                    {nil, 0},
		"one":                        {[]int{401}, 401},
		"pending before credentials": {[]int{401, 462}, 462},
		"held in another order":      {[]int{462, 401, 402}, 462},
		"disabled after pending":     {[]int{412, 461}, 412},
		"a code that is not listed":  {[]int{404}, 0},
		"listed beside not listed":   {[]int{402, 404}, 402},
	} {
		t.Run(name, func(t *testing.T) {
			var h Held
			for _, code := range c.held {
				h.Add(true, NewError(code, "R", "m"))
				h.Add(false, NewError(462, "R", "not held"))
			}
			err := h.Last(order...)
			if c.want == 0 {
				require.NoError(t, err)
				return
			}
			var e *Error
			require.ErrorAs(t, fmt.Errorf("wrapped: %w", err), &e)
			require.Equal(t, c.want, e.Code)
		})
	}
}

// Whatever is held, the answer is held, is listed, and nothing held stands behind it in the order.
func TestLastProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		codes := rapid.SliceOfDistinct(rapid.IntRange(400, 470), rapid.ID)
		order, held := rapid.SliceOfNDistinct(rapid.IntRange(400, 470), 1, -1, rapid.ID).Draw(t, "order"),
			codes.Draw(t, "held")
		var h Held
		for _, c := range held {
			h.Add(true, NewError(c, "", ""))
		}
		best, at := 0, -1
		for _, c := range held {
			for i, o := range order {
				if o == c && i > at {
					best, at = c, i
				}
			}
		}
		var e *Error
		if errors.As(h.Last(order...), &e) != (at >= 0) || (e != nil && e.Code != best) {
			t.Fatalf("held %v of %v: got %v, want %d", held, order, e, best)
		}
	})
}

func TestFirstOfACodeIsKept(t *testing.T) {
	var h Held
	h.Add(true, NewError(400, "First", ""))
	h.Add(true, NewError(400, "Second", ""))
	require.ErrorContains(t, h.Last(400), "First")
	h.Add(true, NewError(404, "Third", ""))
	require.ErrorContains(t, h.Last(), "Third", "without an order nothing that is held is passed over")
	require.NoError(t, Held(nil).Last())
	require.Equal(t, "400 InvalidArgument: id: 3 is odd", Badf("%s: %d is odd", "id", 3).Error())
}
