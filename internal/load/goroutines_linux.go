package load

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// profileTime bounds, in real time, the request for a profile.
const profileTime = 500 * time.Millisecond

// Goroutines returns how many goroutines a program reports, if it serves net/http/pprof at a TCP
// port of this machine. 0 if it does not.
func Goroutines(pid int) int64 {
	for _, port := range listensAt(pid) {
		if n := profiled(port); n > 0 {
			return n
		}
	}
	return 0
}

// profiled reads the number from the first line of the profile, "goroutine profile: total 12".
func profiled(port int64) int64 {
	ctx, cancel := context.WithTimeout(context.Background(), profileTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/debug/pprof/goroutine?debug=1", port), nil)
	if err != nil {
		return 0
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return 0 // it serves no profiles
	}
	defer answer.Body.Close()
	line, _ := bufio.NewReader(answer.Body).ReadString('\n') // a shorter answer has no total
	_, total, _ := strings.Cut(line, "goroutine profile: total ")
	n, _ := strconv.ParseInt(strings.TrimSpace(total), 10, 64)
	return n
}

// listensAt returns the TCP ports on which a process listens.
func listensAt(pid int) (ports []int64) {
	own := map[string]bool{}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, file := range files {
		if target, err := os.Readlink(file); err == nil {
			own[strings.TrimSuffix(strings.TrimPrefix(target, "socket:["), "]")] = true
		}
	}
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		for line := range strings.Lines(string(read(pid, table))) {
			// sl, local address, remote address, state, …, inode: see proc_pid_net(5).
			const state, inode, listening = 3, 9, "0A"
			fields := strings.Fields(line)
			if len(fields) <= inode || fields[state] != listening || !own[fields[inode]] {
				continue
			}
			_, port, _ := strings.Cut(fields[1], ":")
			if n, err := strconv.ParseInt(port, 16, 32); err == nil {
				ports = append(ports, n)
			}
		}
	}
	return ports
}
