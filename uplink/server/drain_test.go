package server

import (
	"context"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// Ten connections and a minute: nothing for the five seconds in which a balancer notices, then one
// each five and a half seconds; one that ends by itself is not waited for; new ones are refused.
func TestDrainIsEven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, began := &Server{}, time.Now()
		var ended []time.Duration
		enter := func() (context.Context, func()) {
			r, leave, err := s.connections.enter(httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
			require.NoError(t, err)
			return r.Context(), leave
		}
		_, gone := enter()
		for range 10 {
			ctx, leave := enter()
			go func() {
				<-ctx.Done()
				require.ErrorIs(t, context.Cause(ctx), ErrDraining)
				ended = append(ended, time.Since(began))
				leave()
			}()
		}
		gone()
		done := make(chan struct{})
		go func() { defer close(done); s.Drain(t.Context(), time.Minute) }()
		synctest.Wait()
		_, _, err := s.connections.enter(httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
		var refused *vms.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, 503, refused.Code)
		<-done
		synctest.Wait()
		var want []time.Duration
		for i := range 10 {
			want = append(want, 5*time.Second+time.Duration(i+1)*5500*time.Millisecond)
		}
		require.Equal(t, want, ended)
		require.Equal(t, time.Minute, time.Since(began))

		s.Drain(t.Context(), time.Hour)
		require.Equal(t, time.Minute, time.Since(began), "there are none")
	})
}

// What stops the service at once stops draining.
func TestDrainIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, began := &Server{}, time.Now()
		_, leave, err := s.connections.enter(httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
		require.NoError(t, err)
		defer leave()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s.Drain(ctx, time.Hour)
		require.Equal(t, time.Second, time.Since(began))
	})
}
