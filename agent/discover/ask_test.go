package discover

import (
	"context"
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
	require.Equal(t, Profile{Token: "main", Name: "main", Encoding: "h265", Width: 2560, Height: 1440, Rate: 25,
		URL: "rtsp://127.0.0.1:8554/main?channel=1&unicast=true"}, cam.Profiles[0])
	main, preview := cam.Choose()
	require.Equal(t, "main", main.Token)
	require.Equal(t, "mid", preview.Token)
}

// Old cameras have no GetServices and one media service; some sign in by HTTP; clocks are wrong by
// years.
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

// What makes write into WWW-Authenticate.
func TestAskByEveryDigest(t *testing.T) {
	challenges := []string{
		`digest realm=cam,nonce=abc`,
		`Digest realm="cam", nonce="abc", algorithm=SHA-1, Digest realm="cam", nonce="abc", algorithm="MD5", Basic realm="cam"`,
		`Basic realm="cam", Digest realm="cam", nonce="abc", qop="auth-int, auth"`,
	}
	for _, algorithm := range []string{"", "MD5", "MD5-sess", "SHA-256", "SHA-256-sess", "md5"} {
		for _, qop := range []string{"", "auth", "auth-int", "auth,auth-int"} {
			if qop == "" && strings.HasSuffix(algorithm, "-sess") {
				continue // RFC 2617, 3.2.2: no nonce of ours may be sent then, and a session is made of it
			}
			c := `Digest realm="cam", nonce="abc", opaque="x"`
			if algorithm != "" {
				c += ", algorithm=" + algorithm
			}
			if qop != "" {
				c += `, qop="` + qop + `"`
			}
			challenges = append(challenges, c)
		}
	}
	for _, c := range challenges {
		r := onviftest.New(t, 2)
		r.HTTPDigest, r.Challenge = true, c
		cam, err := Ask(t.Context(), r.Address(), Credentials{onviftest.User, onviftest.Password})
		require.NoError(t, err, c)
		require.Len(t, cam.Profiles, 3)
		_, err = Ask(t.Context(), r.Address(), Credentials{onviftest.User, "wrong-secret"})
		var refused *SignInError
		require.ErrorAs(t, err, &refused, c)
		require.Contains(t, err.Error(), "refuses")
	}
	r := onviftest.New(t, 2)
	r.HTTPDigest, r.Challenge = true, `Basic realm="cam"`
	_, err := Ask(t.Context(), r.Address(), Credentials{onviftest.User, onviftest.Password})
	require.ErrorContains(t, err, "in clear")
}

// Other words for the same: SOAP 1.1, no prefixes or strange ones, another character set, a byte
// order mark, a fault without any text.
func TestAskInOtherDialects(t *testing.T) {
	who := Credentials{onviftest.User, onviftest.Password}
	const info = `<GetDeviceInformationResponse><Manufacturer>M\xfcller</Manufacturer></GetDeviceInformationResponse>`
	for name, c := range map[string]struct{ answer, make, err string }{
		"latin": {`<?xml version="1.0" encoding="ISO-8859-1"?><Envelope><Body>` +
			strings.ReplaceAll(info, `\xfc`, "\xfc") + `</Body></Envelope>`, "Müller", ""},
		"a byte order mark": {"\ufeff" + `<?xml version="1.0"?><x:Envelope xmlns:x="y"><x:Body>` +
			strings.ReplaceAll(info, `\xfc`, "ü") + `</x:Body></x:Envelope>`, "Müller", ""},
		"an undeclared prefix": {`<SOAP-ENV:Envelope><SOAP-ENV:Body>` + strings.ReplaceAll(info, `\xfc`, "ü") +
			`</SOAP-ENV:Body></SOAP-ENV:Envelope>`, "Müller", ""},
		"a fault of SOAP 1.1": {
			`<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><e:Fault><faultcode>e:Server</faultcode><faultstring>busy</faultstring></e:Fault></e:Body></e:Envelope>`, "", "busy (e:Server)"},
		"not let in by SOAP 1.1": {
			`<e:Envelope xmlns:e="x"><e:Body><e:Fault><faultcode>ter:NotAuthorized</faultcode><faultstring>no</faultstring></e:Fault></e:Body></e:Envelope>`, "", "refuses this user name"},
		"nested for ever": {strings.Repeat("<a>", 200_000), "", "does not speak ONVIF"},
		"a terminal's sequences": {
			onviftest.SOAP(
				"<GetDeviceInformationResponse><Manufacturer>a&#x9b;31m\u202eb</Manufacturer>" +
					"</GetDeviceInformationResponse>"), "a31mb", ""},
		"a year that is no year":   {"", "ACME", ""},
		"no date, and a good rest": {"", "ACME", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := onviftest.New(t, 2)
			if c.answer != "" {
				r.Answers["GetDeviceInformation"] = c.answer
			}
			switch name {
			case "a year that is no year":
				r.HTTPDigest = true // which does not go by the time
				r.Answers["GetSystemDateAndTime"] = onviftest.SOAP(
					`<GetSystemDateAndTimeResponse><SystemDateAndTime><UTCDateTime><Time><Hour>-5</Hour><Minute>9999999</Minute></Time><Date><Year>2147483647</Year><Month>12</Month><Day>31</Day></Date></UTCDateTime></SystemDateAndTime></GetSystemDateAndTimeResponse>`)
			case "no date, and a good rest":
				r.Answers["GetSystemDateAndTime"] = onviftest.SOAP(`<GetSystemDateAndTimeResponse/>`)
			}
			cam, err := Ask(t.Context(), r.Address(), who)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.make, cam.Manufacturer)
		})
	}
}

// An answer that never ends is given up at its bound, and one that comes a byte at a time with the
// question's patience.
func TestAskACameraThatNeverEnds(t *testing.T) {
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	_, err := Ask(t.Context(), endless.URL, Credentials{})
	require.ErrorContains(t, err, "larger than")
	refused := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("WWW-Authenticate", `Digest realm="cam", nonce="abc"`)
		w.WriteHeader(http.StatusUnauthorized)
		for req.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				return
			}
		}
	}))
	defer refused.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err = Ask(ctx, refused.URL, Credentials{onviftest.User, onviftest.Password})
	require.Error(t, err)
	require.NotContains(t, err.Error(), onviftest.Password)
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
		"foreign streams": onviftest.SOAP(
			`<trt:GetProfilesResponse><trt:Profiles token="a"/></trt:GetProfilesResponse>`),
	} {
		t.Run(name, func(t *testing.T) {
			r := onviftest.New(t, 1)
			r.Answers["GetProfiles"] = answer
			r.Answers["GetStreamUri"] = onviftest.SOAP(
				`<trt:GetStreamUriResponse><trt:MediaUri><tt:Uri>file:///etc/passwd</tt:Uri></trt:MediaUri></trt:GetStreamUriResponse>`)
			_, err := Ask(t.Context(), r.Address(), who)
			require.Error(t, err)
		})
	}
	elsewhere := httptest.NewServer(http.RedirectHandler("https://u:secret@192.0.2.1/onvif?pwd=secret",
		http.StatusFound))
	defer elsewhere.Close()
	_, err := Ask(t.Context(), elsewhere.URL, who)
	require.ErrorContains(t, err, "302")
	require.ErrorContains(t, err, "https://192.0.2.1/onvif;")
	require.NotContains(t, err.Error(), "secret")
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
