//go:build !linux || !(amd64 || arm64)

package witness

// Watch needs Linux.
func Watch(dir string, fault Fault, f func(mark func(string))) ([]Op, error) {
	return nil, ErrUnsupported
}
