package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/uplink/vms"
)

// Secrets of the site below, each unlike any other text.
const (
	gatePassword   = "zq1-gate pä:ss"
	yardPassword   = "zq2-wrong-password"
	localToken     = "zq3-local-token-0123"
	brokerPassword = "zq4-broker-password"
	hookSecret     = "zq5-hook-secret-0123"
	hookPath       = "zq6-hook-path"
	userPassword   = "zq7-user-Password-1"
	wrongPassword  = "zq8-not-the-password"
	environSecret  = "zq9-from-environment"
	hookToken      = "zq0-comment"
	toldPassword   = "zqa-told-by-the-camera"
)

// leaks is where secrets are looked for, by name.
type leaks struct {
	t     *testing.T
	texts map[string]string
}

func (l *leaks) add(name string, text []byte) { l.texts[name] += string(text) }

// find looks for a secret as it is, and as it stands in addresses, headers and JSON.
func (l *leaks) find(what, secret string) {
	l.t.Helper()
	require.GreaterOrEqual(l.t, len(secret), 8, what)
	quoted := fmt.Sprintf("%q", secret)
	forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret),
		base64.StdEncoding.EncodeToString([]byte(secret)), quoted[1 : len(quoted)-1],
		base64.StdEncoding.EncodeToString([]byte("viewer:" + secret))}
	for name, text := range l.texts {
		for _, form := range forms {
			if at := strings.Index(text, form); at >= 0 {
				l.t.Errorf("%s stands in %s: …%s…", what, name, text[max(0, at-120):min(len(text), at+len(form)+40)])
			}
		}
	}
}

// TestNoSecretIsTold runs a whole site at debug level, with a secret wherever one can be and with
// much that goes wrong, and looks for them in all that the bridge and its commands say and keep.
func TestNoSecretIsTold(t *testing.T) {
	t.Parallel()
	port := harness.Port(t)
	cam := start(t, "camsim", "--listen", fmt.Sprintf("127.0.0.1:%d", port), "--path", "/cam", "--codec", "mjpeg",
		"--size", "320x176", "--fps", "5", "--auth", "digest",
		"--user", "viewer", "--password", gatePassword)
	cam.line("camsim ready", time.Minute)
	address := fmt.Sprintf("rtsp://127.0.0.1:%d/cam", port)
	dead := harness.Port(t)
	talker := tellAll(t, toldPassword)
	var talkers string
	for _, where := range []string{"away", "realm", "status", "control"} {
		talkers += "  - {id: " + where + ", url: \"" + talker + "/" + where +
			"\", transport: tcp, username: viewer, password: \"" + yardPassword + "\"}\n"
	}
	s := newSite(t, cameraYAML("gate", address, "", "tcp", "viewer", "gate.password")+
		"  - {id: yard, url: \""+address+"\", username: viewer, password: \""+yardPassword+"\"} # "+
		hookToken+"\n"+talkers,
		fmt.Sprintf("mqtt: {url: 'mqtt://127.0.0.1:%d', username: bridge, password: %q}", dead, brokerPassword),
		fmt.Sprintf("webhooks: [{id: hook, url: 'http://127.0.0.1:%d/%s', secret: %s}]", dead, hookPath, hookSecret))
	s.write("gate.password", gatePassword+"\n")
	s.write("lan.token", localToken)
	s.set("token_file: bridge.token", "session_file: service.session")
	key := s.certify("cert.pem", "key.pem")
	s.set("api: {listen:", "api: {tls: {cert: cert.pem, key: key.pem}, listen:")
	s.local = strings.Replace(s.local, "http:", "https:", 1)
	client := &http.Client{Timeout: 20 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	ask := func(method, path, token string, form url.Values) (code int, body []byte) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, s.local+path, strings.NewReader(form.Encode()))
		require.NoError(t, err)
		if form != nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := client.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		body, err = io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, body
	}

	l := &leaks{t, map[string]string{}}
	said := func(name string, args ...string) string {
		out, errs, _ := try(t, "vmsbridge", args...)
		l.add(name, []byte(out+errs))
		return out + errs
	}
	s.signUp()
	out, err := s.login("admin@localhost\n" + wrongPassword + "\n")
	require.Error(t, err)
	l.add("login, refused", []byte(out))
	out, err = s.login("admin@localhost\nhunter2hunter2\n")
	require.NoError(t, err, out)
	l.add("login", []byte(out))
	s.startBridge()

	// Someone signs in at the bridge, and does not.
	first := strings.TrimSpace(s.read(filepath.Join(s.path("bridge"), "first-user.token")))
	code, body := ask("POST", "/g/aaa/reset_password", "", url.Values{"token": {first}, "password": {userPassword}})
	require.Equal(t, http.StatusOK, code, "%s", body)
	l.add("password set", body)
	code, body = ask("POST", "/g/aaa/authenticate", "",
		url.Values{"username": {"admin@localhost"}, "password": {wrongPassword}})
	require.NotEqual(t, http.StatusOK, code)
	l.add("sign-in refused", body)
	code, body = ask("GET", "/api/v3.0/cameras", wrongPassword, nil)
	require.Equal(t, http.StatusUnauthorized, code)
	l.add("token refused", body)

	var schemas []string
	for _, name := range []string{"creatorDetails", "deviceCloudStatusUpdate", "deviceCloudPreviousStatus",
		"deviceOperationUpdate", "resourceDetails", "fullFrameImageUrl", "objectDetection"} {
		schemas = append(schemas, "data.vms."+name+".v1")
	}
	events := func(actor string) string {
		return "/api/v3.0/events?" +
			url.Values{"actor": {actor},
				"type__in": {strings.Join([]string{vms.TypeMotion, vms.TypeDeviceStatus, "vms.deviceOperationEvent.v1"},
					",")},
				"startTimestamp__gte": {"2020-01-01T00:00:00.000Z"},
				"startTimestamp__lte": {"2100-01-01T00:00:00.000Z"},
				"include":             {strings.Join(schemas, ",")}}.Encode()
	}
	until(t, 90*time.Second, "motion, and a refusal by the camera", func() bool {
		code, gate := ask("GET", events("camera:gate"), localToken, nil)
		require.Equal(t, http.StatusOK, code, "%s", gate)
		_, yard := ask("GET", events("camera:yard"), localToken, nil)
		return strings.Contains(string(gate), vms.TypeMotion) && strings.Contains(string(yard), "invalidCredentials")
	})
	// A bad edit with a secret at the wrong place, and a good one.
	good := s.read(s.yaml)
	s.write("vmsbridge.yaml", good+"passwrod: "+environSecret+"\nlog2: {tokens: ["+environSecret+"]}\n")
	said("reload, refused", "service", "reload", "-c", s.yaml)
	said("check", "check", s.yaml)
	said("status with a bad edit", "status", "-c", s.yaml)
	s.write("vmsbridge.yaml", good)
	said("reload", "service", "reload", "-c", s.yaml)

	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/", "/api/v3.0/cameras?include=status",
		events("camera:gate"), events("camera:yard"), events("bridge:bridge-1"),
		"/nothing?token=x"} {
		_, body := ask("GET", path, localToken, nil)
		l.add("GET "+path[:min(len(path), 24)], body)
	}
	require.Contains(t, l.texts["GET "+events("bridge:bridge-1")[:24]], "configurationReload",
		"the bad edit is an event")
	for _, actor := range []string{"camera:gate", "camera:yard", "bridge:bridge-1"} {
		_, _, body = s.get(events(actor))
		l.add("events at the service", body)
	}
	said("status", "status", "-c", s.yaml)
	said("status --json", "status", "--json", "-c", s.yaml)
	said("check of a good file", "check", s.yaml)
	for _, camera := range []string{"yard", "away", "realm", "status", "control"} {
		said("probe "+camera, "probe", "--config", s.yaml, "--camera", camera)
		_, told := ask("GET", events("camera:"+camera), localToken, nil)
		l.add("events of "+camera, told)
	}
	said("events", "events", "-c", s.yaml, "--ca-file", s.path("cert.pem"))
	bundle := s.path("bundle.tar.gz")
	require.Contains(t, said("support-bundle", "support-bundle", "-c", s.yaml, "-o", bundle), bundle)
	packed, err := exec.Command("tar", "-xzOf", bundle).Output()
	require.NoError(t, err)
	require.Contains(t, string(packed), "vmsbridge_agent_info")
	l.add("the support bundle", packed)

	// What every user of the machine may see of the processes.
	l.add("command lines", commandLines(t, s.bridge.cmd.Process.Pid))

	// The watchdog's end: the program prints what each goroutine was doing.
	require.NoError(t, s.bridge.cmd.Process.Signal(syscall.SIGABRT))
	until(t, 20*time.Second, "the end", func() bool { return !s.bridge.running() })
	require.Contains(t, s.bridge.output(), "goroutine ")
	l.add("the log", []byte(s.bridge.output()))
	require.NoError(t, filepath.WalkDir(s.path("bridge"), func(path string, d fs.DirEntry, err error) error {
		// which is where that token is to be found
		if err != nil || d.IsDir() || !d.Type().IsRegular() || d.Name() == "first-user.token" {
			return err
		}
		content, err := os.ReadFile(path)
		l.add("the file "+d.Name(), content)
		return err
	}))

	require.Contains(t, l.texts["the log"], "DEBUG")
	for what, secret := range map[string]string{"the camera's password": gatePassword,
		"the other camera's password": yardPassword, "the local token": localToken,
		"the broker's password": brokerPassword, "the hook's secret": hookSecret, "the hook's path": hookPath,
		"the user's password": userPassword,
		"a wrong password":    wrongPassword, "a misplaced secret": environSecret, "a comment": hookToken,
		"the service's user's password": "hunter2hunter2",
		"the first user's token":        first, "the key": key, "what a camera tells": toldPassword} {
		l.find(what, secret)
	}
	for _, word := range strings.FieldsFunc(s.read(s.path("service.session")),
		func(r rune) bool { return strings.ContainsRune("\r\n\t \",:{}", r) }) {
		if len(word) >= 20 && !strings.Contains(word, "//") {
			l.find("a word of the session file", word)
		}
	}
}

// certify makes a certificate for this machine and returns a line of its key.
func (s *site) certify(cert, key string) string {
	s.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(s.t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bridge"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(s.t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(s.t, err)
	s.write(cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
	s.write(key, text)
	return strings.Split(text, "\n")[1]
}

// commandLines are those of a process and of all that it started.
func commandLines(t *testing.T, pid int) (all []byte) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	seen := 0
	for _, dir := range dirs {
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue // it has ended
		}
		var self, parent int
		var state string
		rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
		_, err = fmt.Sscan(string(stat), &self)
		require.NoError(t, err)
		_, err = fmt.Sscan(rest, &state, &parent)
		require.NoError(t, err)
		if self != pid && parent != pid {
			continue
		}
		seen++
		for _, name := range []string{"cmdline", "comm", "environ"} {
			if self == pid && name == "environ" {
				continue // its own is its caller's
			}
			content, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			all = append(all, content...)
		}
	}
	require.GreaterOrEqual(t, seen, 1)
	return all
}
