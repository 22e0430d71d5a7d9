package camera

import (
	"testing"

	"github.com/bluenviron/gortsplib/v4/pkg/base"
	"github.com/bluenviron/gortsplib/v4/pkg/description"
	"github.com/bluenviron/gortsplib/v4/pkg/sdp"
	"github.com/stretchr/testify/require"
)

// understand runs a description through all that a camera's answer goes through.
func understand(t testing.TB, body string) (choice, *Failure, []Offer) {
	t.Helper()
	out, offers := readOffers([]byte(body))
	if out == nil {
		return choice{}, failf(NoVideo, nil, "unreadable"), nil
	}
	var s sdp.SessionDescription
	require.NoError(t, s.Unmarshal(out), "%q", out)
	var d description.Session
	if err := d.Unmarshal(&s); err != nil {
		return choice{}, noChoice(offers), offers
	}
	u, err := base.ParseURL("rtsp://host/path")
	require.NoError(t, err)
	d.BaseURL = u
	c, f := choose(&d, offers)
	return c, f, offers
}

func TestUnderstandsDescriptions(t *testing.T) {
	const video = "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:v\r\n"
	for _, tc := range []struct {
		name  string
		body  string
		codec Codec
		state State
	}{
		{"plain", sdpHead + video, H264, ""},
		{"lower case, LF only", "v=0\no=- 0 0 IN IP4 0\ns=x\nt=0 0\nm=video 0 RTP/AVP 96\na=rtpmap:96 h264/90000\n",
			H264, ""},
		{"without o, s and t", "v=0\r\n" + video, H264, ""},
		{"broken origin", "v=0\r\no=what\r\ns=\r\nt=now\r\n" + video, H264, ""},
		{"repeat before time", "v=0\r\nr=7d 1h 0 25h\r\n" + video, H264, ""},
		{"broken audio", sdpHead + "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 MPEG4-GENERIC/x/y\r\na=fmtp:97 config=zz\r\n" +
			video, H264, ""},
		{"metadata first", sdpHead + "m=application 0 RTP/AVP 107\r\na=rtpmap:107 vnd.onvif.metadata/90000\r\n" + video,
			H264, ""},
		{"broken sprop", sdpHead + "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 " +
			"sprop-parameter-sets=!!!,???\r\n", H264, ""},
		{"double mid", sdpHead + "m=video 0 RTP/AVP 96\r\na=mid:1\r\na=rtpmap:96 H264/90000\r\nm=audio 0 RTP/AVP " +
			"0\r\na=mid:1\r\n", H264, ""},
		{"relative session control", sdpHead + "a=control:trackX\r\n" + video, H264, ""},
		{"unusual payload type", sdpHead + "m=video 0 RTP/AVP 77\r\na=rtpmap:77 H265/90000\r\n", H265, ""},
		{"dynamic MJPEG", sdpHead + "m=video 0 RTP/AVP 98\r\na=rtpmap:98 JPEG/90000\r\n", MJPEG, ""},
		{"static MJPEG", sdpHead + "m=video 0 RTP/AVP 26\r\n", MJPEG, ""},
		{"two codecs", sdpHead + "m=video 0 RTP/AVP 97 96\r\na=rtpmap:97 AV1/90000\r\na=rtpmap:96 H264/90000\r\n", H264,
			""},
		{"two media, the first unknown", sdpHead + "m=video 0 RTP/AVP 97\r\na=rtpmap:97 VP9/90000\r\n" + video, H264,
			""},
		{"back channel", sdpHead + "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=sendonly\r\n", "", NoVideo},
		{"two unknown", sdpHead + "m=video 0 RTP/AVP 97\r\na=rtpmap:97 VP9/90000\r\nm=video 0 RTP/AVP " +
			"98\r\na=rtpmap:98 VP8/90000\r\n", "", UnsupportedCodec},
		{"nothing", "", "", NoVideo},
		{"text", "hello\r\nworld\r\n", "", NoVideo},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, f, _ := understand(t, tc.body)
			if tc.state != "" {
				require.NotNil(t, f)
				require.Equal(t, tc.state, f.State, f.Reason)
				return
			}
			require.Nil(t, f)
			require.Equal(t, tc.codec, c.codec)
			require.Len(t, c.media.Formats, 1, "no other payload type is listened to")
		})
	}
}

// No description makes anything panic, here or in the library's goroutine, which gets only what
// passed here.
func FuzzDescription(f *testing.F) {
	f.Add(sdpHead + "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 " +
		"packetization-mode=1;sprop-parameter-sets=Z0IAH5WoFAFuQA==,aM48gA==\r\na=control:trackID=0\r\n")
	f.Add("v=0\r\nr=7d 1h 0 25h\r\nz=1 \r\nm=video 0 RTP/AVP smart/1/90000\r\na=rtpmap:96 H265/90000\r\na=fmtp:96 " +
		"sprop-sps=QgEB\r\n")
	f.Add("m=video\r\nm=\r\nm=video 0 RTP/AVP 300\r\na=key-mgmt:mikey AAAA\r\n")
	f.Add(sdpHead + "a=key-mgmt:mikey AQAFAP1te1kBAAAsAAAAAA==\r\nm=video 0 RTP/SAVP 26\r\n")
	f.Fuzz(func(t *testing.T, body string) {
		c, fail, _ := understand(t, body)
		if (fail == nil) != (c.media != nil) {
			t.Fatal("neither a stream nor a reason")
		}
		if fail != nil && fail.Reason == "" {
			t.Fatal("no reason")
		}
	})
}
