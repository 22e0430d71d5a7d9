package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// password finds a camera's password without the command line, which other users of the machine can
// read: in the file, in the environment, or by asking.
func password(s streams, user, file string) (string, error) {
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read the password: %w", err)
		}
		return strings.TrimRight(string(b), "\r\n"), nil
	}
	if p, ok := os.LookupEnv("VMSBRIDGE_CAMERA_PASSWORD"); ok {
		return p, nil
	}
	if user == "" {
		return "", nil
	}
	_, _ = fmt.Fprintf(s.err, "Password of %s: ", user)
	restore := func() {}
	if f, ok := s.in.(*os.File); ok {
		restore = hideInput(int(f.Fd()))
	}
	line, err := bufio.NewReader(s.in).ReadString('\n')
	restore()
	_, _ = fmt.Fprintln(s.err)
	if err != nil && !(errors.Is(err, io.EOF) && line != "") {
		return "",
			fmt.Errorf("no password was given: %w; use --password-file or $VMSBRIDGE_CAMERA_PASSWORD where nobody "+
				"can type", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// hideInput stops a terminal from showing what is typed; other streams stay as they are.
func hideInput(fd int) (restore func()) {
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return func() {}
	}
	hidden := *before
	hidden.Lflag &^= unix.ECHO
	hidden.Lflag |= unix.ICANON | unix.ISIG
	if unix.IoctlSetTermios(fd, unix.TCSETS, &hidden) != nil {
		return func() {}
	}
	return func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, before) }
}
