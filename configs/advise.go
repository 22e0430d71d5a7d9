package configs

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// private warns of a secret file that everyone may read. One that is not there yet is none.
func (c *checker) private(key, path string) {
	if st, err := os.Stat(path); err == nil && st.Mode().Perm()&0o007 != 0 {
		c.warn(key, "every user of this machine may read %s; run chmod o= on it", clean(path))
	}
}

// sameAddress warns of two cameras that are the same stream: most often the address of one was
// copied and not changed.
func (c *checker) sameAddress() {
	first := map[string]int{} // line, by address
	for i, cam := range c.cfg.Cameras {
		path := item("cameras", i) + ".url"
		address, ok := sameForm(cam.URL)
		if !ok || !cam.Enabled || c.bad[path] {
			continue
		}
		if line, twice := first[address]; twice {
			c.warn(path, "is the address of the camera on line %d too", line)
			continue
		}
		first[address] = c.nearest(c.values, path).line
	}
}

// sameForm is an address in a form in which equal ones look the same.
func sameForm(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"rtsp": "554", "rtsps": "322"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port + "/" + strings.Trim(u.EscapedPath(), "/") + "?" + u.RawQuery,
		true
}

// room warns of stores that do not fit on the disk that they are to lie on.
func (c *checker) room() {
	if c.bad["bridge.data"] || c.bad["stills.max_size"] || !c.loaded {
		return
	}
	dir := c.cfg.Bridge.Data
	var fs syscall.Statfs_t
	for syscall.Statfs(dir, &fs) != nil {
		if dir == filepath.Dir(dir) {
			return
		}
		dir = filepath.Dir(dir)
	}
	total := Size(int64(fs.Blocks) * int64(fs.Bsize))
	if ring := c.cfg.Stills.MaxSize; ring > total-c.cfg.Stills.MinFree {
		c.warn("stills.max_size", "%v is more than the disk of %s has, %.1f GB; the ring will take what it finds and "+
			"leave %v free", ring, clean(c.cfg.Bridge.Data), float64(total)/1e9, c.cfg.Stills.MinFree)
	}
}
