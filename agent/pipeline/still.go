package pipeline

import (
	"context"
	"errors"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
)

// Still makes the JPEG of a picture: an MJPEG camera's own bytes, whatever their width, where they
// are good; else the decoder's.
func (p *Pipeline) Still(ctx context.Context, pic codec.Picture, maxWidth int) ([]byte, error) {
	if own := p.marks.Data(pic.PTS); own != nil {
		if _, _, err := codec.CheckJPEG(own); err == nil {
			return own, nil
		}
	}
	return p.decoder.Still(ctx, pic.PTS, maxWidth, p.deps.Pace.quality())
}

func (p *Pipeline) stillFailed(err error) {
	p.deps.Metrics.stillFailures.WithLabelValues(p.cfg.ID).Inc()
	if errors.Is(err, codec.ErrLost) {
		p.waitKey = true
	}
	p.grumble.say(p.log, "a still could not be kept", err)
}

func (p *Pipeline) decodeFailed(err error) {
	p.deps.Metrics.decodeFailures.WithLabelValues(p.cfg.ID).Inc()
	switch unsupported := (*codec.UnsupportedError)(nil); {
	case errors.Is(err, codec.ErrLost):
		p.waitKey = true
		p.recorder.Lost()
	case errors.As(err, &unsupported):
		p.waitKey = true
		p.setTrouble(camera.Status{State: camera.UnsupportedCodec, Reason: unsupported.Error(), Since: p.deps.Now()})
		p.presence.Set(camera.UnsupportedCodec, p.deps.Now())
	}
	p.grumble.say(p.log, "an access unit could not be decoded", err)
}
