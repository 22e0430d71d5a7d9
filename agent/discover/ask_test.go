package discover

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/discover/onviftest"
)

// The example of the ONVIF Application Programmer's Guide.
func TestPasswordDigest(t *testing.T) {
	nonce, err := base64.StdEncoding.DecodeString("LKqI6G/AikKCQrN0zqZFlg==")
	require.NoError(t, err)
	require.Equal(t, "tuOSpGlFlIXsozq4HFNeeGeFLEI=", passwordDigest(nonce, "2010-09-16T07:50:45Z", "userpassword"))
}

func TestAskMedia2(t *testing.T) {
	r := onviftest.New(t, 2)
	cam, err := Ask(t.Context(), r.Address(), Credentials{onviftest.User, onviftest.Password})
	require.NoError(t, err)
	require.Equal(t, "ACME", cam.Manufacturer)
	require.Equal(t, "S42", cam.Serial)
	require.Len(t, cam.Profiles, 3)
	require.Equal(t, Profile{Token: "main", Name: "main", Encoding: "h265", Width: 2560, Height: 1440, Rate: 25, URL: "rtsp://127.0.0.1:8554/main?channel=1&unicast=true"}, cam.Profiles[0])
	main, preview := cam.Choose()
	require.Equal(t, "main", main.Token)
	require.Equal(t, "mid", preview.Token)
}

// Old cameras have no GetServices and one media service; some sign in by HTTP; clocks are wrong by years.
func TestAskEveryKindOfCamera(t *testing.T) {
	for name, set := range map[string]func(*onviftest.Responder){
		"by version 1":        func(r *onviftest.Responder) { r.Media = 1 },
		"by capabilities":     func(r *onviftest.Responder) { r.Media = 0 },
		"by HTTP digest":      func(r *onviftest.Responder) { r.HTTPDigest = true },
		"clock in 1970":       func(r *onviftest.Responder) { r.Ahead = -time.Since(time.Unix(1000, 0)) },
		"clock an hour ahead": func(r *onviftest.Responder) { r.Ahead = time.Hour },
		"tells an old host":   func(r *onviftest.Responder) { r.Host = "192.168.1.88" },
		"tells no host":       func(r *onviftest.Responder) { r.Host = "0.0.0.0" },
	} {
		t.Run(name, func(t *testing.T) {
			r := onviftest.New(t, 1)
			set(r)
			cam, err := Ask(t.Context(), r.Address(), Credentials{onviftest.User, onviftest.Password})
			require.NoError(t, err)
			require.InDelta(t, r.Ahead.Seconds(), cam.ClockAhead.Seconds(), 2)
			main, _ := cam.Choose()
			require.True(t, strings.HasPrefix(main.URL, "rtsp://127.0.0.1:8554/main?"), main.URL)
			for _, p := range cam.Profiles {
				require.Contains(t, []string{"h264", "h265", "mjpeg"}, p.Encoding)
			}
		})
	}
}

func TestAskWithTheWrongPassword(t *testing.T) {
	for _, byHTTP := range []bool{false, true} {
		r := onviftest.New(t, 2)
		r.HTTPDigest = byHTTP
		_, err := Ask(t.Context(), r.Address(), Credentials{onviftest.User, "wrong-secret"})
		var refused *SignInError
		require.ErrorAs(t, err, &refused)
		require.Contains(t, err.Error(), "refuses")
		require.NotContains(t, err.Error(), "wrong-secret")
		_, err = Ask(t.Context(), r.Address(), Credentials{})
		require.ErrorAs(t, err, &refused)
		require.Contains(t, err.Error(), "wants")
	}
}

// What a camera answers is never trusted.
func TestAskHostileCameras(t *testing.T) {
	who := Credentials{onviftest.User, onviftest.Password}
	for name, answer := range map[string]string{
		"nothing":         "",
		"no XML":          "<html><body>hello",
		"another charset": `<?xml version="1.0" encoding="utf-16"?><Envelope/>`,
		"a document type": `<!DOCTYPE x [<!ENTITY a "b">]><Envelope><Body/></Envelope>`,
		"too much":        onviftest.SOAP("<x>" + strings.Repeat("y", maxAnswer) + "</x>"),
		"no profiles":     onviftest.SOAP(""),
		"foreign streams": onviftest.SOAP(`<trt:GetProfilesResponse><trt:Profiles token="a"/></trt:GetProfilesResponse>`),
	} {
		t.Run(name, func(t *testing.T) {
			r := onviftest.New(t, 1)
			r.Answers["GetProfiles"] = answer
			r.Answers["GetStreamUri"] = onviftest.SOAP(`<trt:GetStreamUriResponse><trt:MediaUri><tt:Uri>file:///etc/passwd</tt:Uri></trt:MediaUri></trt:GetStreamUriResponse>`)
			_, err := Ask(t.Context(), r.Address(), who)
			require.Error(t, err)
		})
	}
	elsewhere := httptest.NewServer(http.RedirectHandler("http://192.0.2.1/", http.StatusFound))
	defer elsewhere.Close()
	_, err := Ask(t.Context(), elsewhere.URL, who)
	require.ErrorContains(t, err, "302")
	_, err = Ask(t.Context(), "http://user:secret@127.0.0.1/", who)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
	_, err = Ask(t.Context(), "http://127.0.0.1:1/", who)
	require.ErrorContains(t, err, "refused")
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(onviftest.SOAP(`<trt:GetProfilesResponse><trt:Profiles token="a"/></trt:GetProfilesResponse>`)))
	f.Add([]byte(onviftest.Fault("env:Sender", "ter:NotAuthorized", "x")))
	f.Fuzz(func(t *testing.T, answer []byte) {
		var out struct {
			Profiles []struct {
				Token string `xml:"token,attr"`
				Video encoder
			} `xml:"Body>GetProfilesResponse>Profiles"`
		}
		if (&client{}).read(http.StatusOK, answer, &out) == nil {
			for _, p := range out.Profiles {
				q := profile(p.Token, p.Token, p.Video)
				require.GreaterOrEqual(t, q.Width, 0)
				require.LessOrEqual(t, len([]rune(q.Name)), maxText)
			}
		}
	})
}
