package namespaces

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A refusal has the actual cause, and a remedy for it.
func TestTheCauseOfARefusal(t *testing.T) {
	unshare := fmt.Errorf("unshare(CLONE_NEWNS): %w", syscall.EPERM)
	clone := fmt.Errorf("user, mount: fork/exec: %w", syscall.EPERM)
	denied := fmt.Errorf("mount: %w", syscall.EACCES)
	const capability = "give the container that capability: docker run --privileged, privileged: true in a pod's securityContext"
	const container = "run outside the container, or let it: docker run --privileged, privileged: true in a pod's securityContext"
	const root = "run as root, or in a container with CAP_SYS_ADMIN"
	for _, test := range []struct {
		name          string
		facts         facts
		cause, remedy string
	}{
		{"a test binary that has not entered", facts{failed: unshare},
			"not root, and the program was not started in a user namespace", root + ", or, in tests, begin TestMain with namespaces.Enter()"},
		{"user namespaces switched off", facts{failed: unshare, tried: clone, switches: []userSwitch{{"user.max_user_namespaces", "0", "10000"}}},
			"not root, and sysctl user.max_user_namespaces is 0", root + ", or let users have namespaces: sysctl -w user.max_user_namespaces=10000"},
		{"Ubuntu's restriction", facts{failed: denied, tried: clone, profile: "unprivileged_userns", switches: []userSwitch{{"kernel.apparmor_restrict_unprivileged_userns", "1", "0"}}},
			"not root, and sysctl kernel.apparmor_restrict_unprivileged_userns is 1", root + ", or let users have namespaces: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
		{"a container's root", facts{root: true, failed: unshare, tried: clone, seccomp: true, filters: []string{"unshare(2)", "mount(2)"}},
			"root has no CAP_SYS_ADMIN here, and a seccomp filter, such as that of Docker and Kubernetes, forbids unshare(2) and mount(2)", capability},
		{"a container's user", facts{failed: unshare, tried: clone, seccomp: true, filters: []string{"unshare(2)"}},
			"not root, and a seccomp filter, such as that of Docker and Kubernetes, forbids unshare(2)", root},
		{"a filter for clone only", facts{failed: unshare, tried: clone, seccomp: true},
			"not root, and a seccomp filter or a security module forbids user namespaces: user, mount: fork/exec: operation not permitted", root},
		{"a capability without the calls", facts{root: true, sysAdmin: true, failed: unshare, filters: []string{"unshare(2)"}},
			"a seccomp filter, such as that of Docker and Kubernetes, forbids unshare(2)", container},
		{"AppArmor in a container", facts{root: true, sysAdmin: true, failed: denied, profile: "docker-default"},
			"AppArmor's profile docker-default forbids mount namespaces: mount: permission denied", container},
		{"a chroot", facts{failed: unshare, tried: clone, chrooted: true},
			"not root, and a process in a chroot may have no user namespace", root},
		{"a kernel without user namespaces", facts{failed: unshare, tried: fmt.Errorf("user, mount: %w", syscall.EINVAL)},
			"not root, and the kernel permits no user namespaces: user, mount: invalid argument", root},
		{"too many", facts{root: true, sysAdmin: true, failed: fmt.Errorf("unshare(CLONE_NEWNS): %w", syscall.ENOSPC)},
			"there are as many mount namespaces as sysctl user.max_mnt_namespaces permits", "sysctl -w user.max_mnt_namespaces=10000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.facts.refusal()
			assert.Equal(t, &Refusal{Cause: test.cause, Remedy: test.remedy}, got)
			assert.ErrorIs(t, got, ErrNotPermitted)
		})
	}
	assert.Nil(t, facts{}.refusal())
	assert.False(t, errors.Is(&Refusal{}, fs.ErrPermission))
}
