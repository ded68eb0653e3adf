package machine_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A call that creates no file leaves no file open on its mount.
func TestAMountIsNotBusyAfterACallThatFailed(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	p, begin := followed(t, m, `mkdir m y; mount --bind y m; cd m; (: >none/x) 2>/dev/null; cd ..; umount m && touch fine`)
	begin()
	<-p.Done()
	assert.Contains(t, files(t, m), "fine=")
}

// A starting process holds csisim's open files until it executes its program.
func TestAnUnmountWaitsForAForkOfCsisim(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	p, begin := followed(t, m, `mkdir m y; mount --bind y m; echo a >m/x; umount m && touch fine`)
	syscall.ForkLock.Lock()
	begin()
	select {
	case <-p.Done():
		syscall.ForkLock.Unlock()
		require.Fail(t, "the program has unmounted beside a fork")
	case <-time.After(300 * time.Millisecond):
		syscall.ForkLock.Unlock()
	}
	<-p.Done()
	assert.Contains(t, files(t, m), "fine=")
}
