package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestABundleHoldsNoSecretInAnyForm(t *testing.T) {
	const odd = `pä ss"w/ö%rd\`
	var out bytes.Buffer
	w := newBundle(&out, "folder", time.Unix(1, 0), []string{"hunter2-token", "hunter2", "abc", odd})
	text := "a hunter2-token b hunter2 c abc " + odd + " " + url.QueryEscape(odd) + " " + url.PathEscape(odd) + " " + base64.StdEncoding.EncodeToString([]byte(odd)) + ` {"x":"pä ss\"w/ö%rd\\"}`
	require.NoError(t, w.Add("x/a.txt", []byte(text)))
	require.NoError(t, w.Add("b.txt", nil))
	require.NoError(t, w.Close())
	gz, err := gzip.NewReader(&out)
	require.NoError(t, err)
	files := map[string]string{}
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		require.EqualValues(t, 0o600, h.Mode)
		files[h.Name] = string(content)
	}
	require.Equal(t, map[string]string{"folder/x/a.txt": `a *** b *** c abc *** *** *** *** {"x":"***"}`, "folder/b.txt": ""}, files)
}

type fullDevice struct{}

func (fullDevice) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAFullDiskIsAnError(t *testing.T) {
	w := newBundle(fullDevice{}, "f", time.Now(), nil)
	err := w.Add("a", bytes.Repeat([]byte("0123456789"), 1<<18))
	require.ErrorContains(t, errors.Join(err, w.Close()), "no space left")
}
