//go:build !linux

package camera

import (
	"io"
	"net"
)

func plainReader(c net.Conn) io.Reader { return c }
