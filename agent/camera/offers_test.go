package camera

import (
	"testing"

	"github.com/bluenviron/gortsplib/v4/pkg/sdp"
	"github.com/stretchr/testify/require"
)

const head = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\n"

func TestOffersAreNamed(t *testing.T) {
	_, offers := readOffers([]byte(head + "m=video 0 RTP/AVP 96\r\na=rtpmap:96 hevc/90000\r\nm=audio 0 RTP/AVP " +
		"8\r\nm=video 0 RTP/AVP 99\r\na=rtpmap:99 mp4v-es/90000\r\n" +
		"m=application 0 RTP/AVP 107\r\na=rtpmap:107 vnd.onvif.metadata/90000\r\n"))
	require.Equal(t, []Offer{{Kind: "video", Codec: "H.265", Supported: true},
		{Kind: "audio", Codec: "PCMA", Supported: false}, {Kind: "video", Codec: "MPEG-4 Visual", Supported: false},
		{Kind: "application", Codec: "VND.ONVIF.METADATA", Supported: false}}, offers)
}

// A camera that forgets the name of its codec gets one in the message that says so.
func TestOfferWithoutAName(t *testing.T) {
	_, offers := readOffers([]byte(head + "m=video 0 RTP/AVP 96\r\na=rtpmap:96 /90000\r\n"))
	require.Equal(t, []Offer{{Kind: "video", Codec: "unknown"}}, offers)
}

// Whatever a camera describes, the library's parser gets what it can read, or nothing.
func FuzzRead(f *testing.F) {
	f.Add(head + "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 " +
		"packetization-mode=1;sprop-parameter-sets=Z0IAH5WoFAFuQA==,aM48gA==\r\na=control:trackID=0\r\n")
	f.Add("v=0\r\nr=7d 1h 0 25h\r\nz=1 \r\nm=video 0 RTP/AVP smart/1/90000\r\na=rtpmap:96 H265/90000\r\na=fmtp:96 " +
		"sprop-sps=QgEB\r\n")
	f.Add("m= 0 0 smart/0\na=rtpmap:")
	f.Add("m=video\r\nm=\r\nm=video 0 RTP/AVP 300\r\na=key-mgmt:mikey AAAA\r\n")
	f.Fuzz(func(t *testing.T, body string) {
		out, offers := readOffers([]byte(body))
		if out == nil {
			require.Empty(t, offers)
			return
		}
		var s sdp.SessionDescription
		require.NoError(t, s.Unmarshal(out), "%q", out)
		for _, o := range offers {
			require.NotEmpty(t, o.Codec)
			require.True(t, !o.Supported || o.Kind == "video", "%+v", o)
		}
	})
}
