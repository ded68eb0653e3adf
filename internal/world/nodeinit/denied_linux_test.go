package nodeinit

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Given a thread with denied calls, then these fail, and others work.
func TestCallsAboutTheMachineAreDenied(t *testing.T) {
	if denied == nil {
		t.Skip("the numbers of calls are not known on this processor")
	}
	for name, keys := range map[string]bool{"with keyrings": false, "without keyrings": true} {
		failed := make(chan map[string]error)
		go func() {
			runtime.LockOSThread() // without an end: the thread ends with the goroutine
			errs := map[string]error{"prctl": unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "deny": Deny(keys)}
			errs["swapon"] = call(unix.SYS_SWAPON)
			errs["bpf"] = call(unix.SYS_BPF)
			errs["bpf by its other number"] = call(x32 | unix.SYS_BPF)
			errs["getpid"] = call(unix.SYS_GETPID)
			_, errs["keyctl"] = unix.KeyctlGetKeyringID(unix.KEY_SPEC_PROCESS_KEYRING, true)
			failed <- errs
		}()
		errs := <-failed
		require.NoError(t, errs["prctl"], name)
		require.NoError(t, errs["deny"], name)
		assert.ErrorIs(t, errs["swapon"], unix.EPERM, name)
		assert.ErrorIs(t, errs["bpf"], unix.EPERM, name)
		assert.ErrorIs(t, errs["bpf by its other number"], unix.EPERM, name)
		assert.NoError(t, errs["getpid"], name)
		if keys {
			assert.ErrorIs(t, errs["keyctl"], unix.EPERM, name)
		} else {
			assert.NotErrorIs(t, errs["keyctl"], unix.EPERM, name)
		}
	}
}

// call makes a system call without arguments.
func call(number uintptr) error {
	if _, _, err := unix.Syscall(number, 0, 0, 0); err != 0 {
		return err
	}
	return nil
}
