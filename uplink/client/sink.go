package client

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

// Service hands events to the service. Client is one.
type Service interface {
	Report(ctx context.Context, ev vms.Event) error
	AtOnce() int
	ReportMany(ctx context.Context, events []vms.Event) (verdicts []error, err error)
}

// Sink is the service as a sink of events, for uplink/delivery.
type Sink struct {
	Service
	// Register is called when the service does not know an event's actor, or says that the event is
	// another's: after a new sign-in it is this bridge's again once the bridge has registered. nil:
	// such an event is refused at once.
	Register func(context.Context) error
	Log      *slog.Logger
}

// Metrics are those of events on their way to the service.
func Metrics(reg prometheus.Registerer) *delivery.Metrics {
	f := promauto.With(reg)
	failures := f.NewCounterVec(prometheus.CounterOpts{Name: "vmsbridge_reporter_failures_total",
		Help: "Attempts that failed, by whose fault it seems to be."}, []string{"fault"})
	for _, k := range []delivery.Kind{delivery.OfSink, delivery.OfToken, delivery.OfEvent} {
		failures.WithLabelValues(k.String()) // series that begin at 0 show their first step
	}
	return &delivery.Metrics{
		Sent: f.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_reporter_accepted_total",
			Help: "Events that the service took."}),
		Refused: f.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_reporter_parked_total",
			Help: "Events that the service refused for good."}),
		Failed: func(k delivery.Kind) prometheus.Counter { return failures.WithLabelValues(k.String()) },
	}
}

// Send is for delivery.Sink. If the service does not know the actor, or takes the event
// for another's, the first event goes once more after a registration.
func (s *Sink) Send(ctx context.Context, list []vms.Queued) []delivery.Verdict {
	verdicts, err := s.report(ctx, list)
	out := make([]delivery.Verdict, 0, len(verdicts)+1)
	for _, v := range verdicts {
		out = append(out, Verdict(v))
	}
	if refused := (*vms.RefusedError)(nil); errors.As(err, &refused) {
		switch {
		case len(out) > 0:
			return out // what was refused comes first next time
		case s.Register != nil && (refused.UnknownActor() || refused.Code == http.StatusConflict):
			err = s.known(ctx, list[0].Event, err)
		}
	} else if err == nil {
		return out
	}
	return append(out, Verdict(err))
}

func (s *Sink) report(ctx context.Context, list []vms.Queued) (verdicts []error, err error) {
	if len(list) == 1 {
		if err := s.Report(ctx, list[0].Event); err != nil {
			return nil, err
		}
		return []error{nil}, nil
	}
	events := make([]vms.Event, len(list))
	for i, q := range list {
		events[i] = q.Event
	}
	return s.ReportMany(ctx, events)
}

// known registers the bridge and reports an event again for which the service did not know it.
func (s *Sink) known(ctx context.Context, ev vms.Event, refusal error) error {
	s.Log.Info("registering again, as the service refuses an event", "actor", ev.ActorID, "reason", refusal)
	err := s.Register(ctx)
	if errors.As(err, new(*vms.RefusedError)) {
		return refusal // the service does not want to know: its verdict on the event stands
	}
	if err != nil {
		return err
	}
	return s.Report(ctx, ev)
}

// Verdict says what follows from an error of Client, nil for none.
func Verdict(err error) delivery.Verdict {
	v := delivery.Verdict{Kind: delivery.OfSink, Err: err}
	var unauthorized *vms.UnauthorizedError
	var forbidden *vms.ForbiddenError
	var refused *vms.RefusedError
	var transient *vms.TransientError
	switch {
	case err == nil:
		v.Kind = delivery.Taken
	case errors.As(err, &unauthorized):
		v.Kind = delivery.OfToken
	case errors.As(err, &forbidden):
		v.Kind, v.Forbidden = delivery.OfEvent, true
	case errors.As(err, &refused):
		v.Kind = delivery.Refused
	case errors.As(err, &transient):
		v.After = transient.RetryAfter
		switch transient.Code {
		case 0, http.StatusBadGateway, http.StatusGatewayTimeout:
			v.Unreachable = true
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		default:
			if transient.Own {
				v.Kind = delivery.OfEvent
			}
		}
	}
	return v
}
