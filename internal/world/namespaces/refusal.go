package namespaces

import (
	"errors"
	"strings"
	"syscall"
)

// Refusal is the reason why this process may not create mount namespaces.
type Refusal struct {
	// Cause is the complete cause: "not root, and sysctl user.max_user_namespaces is 0".
	Cause string
	// Remedy is the user's remedy.
	Remedy string
}

func (r *Refusal) Error() string { return ErrNotPermitted.Error() + ": " + r.Cause + ": " + r.Remedy }

// Is makes a Refusal an ErrNotPermitted.
func (r *Refusal) Is(target error) bool { return target == ErrNotPermitted }

// facts decide whether a process may have namespaces.
type facts struct {
	root     bool // its user is root, possibly in a user namespace
	sysAdmin bool // it has CAP_SYS_ADMIN
	// filters are the system calls that a seccomp filter forbids.
	filters []string
	seccomp bool // there is a seccomp filter
	// profile is the AppArmor profile that confines it; empty if there is none.
	profile string
	// switches are the settings that deny users user namespaces.
	switches []userSwitch
	chrooted bool  // its root directory is not that of its mount namespace
	tried    error // the error of creating namespaces as an ordinary user; nil if it was not tried
	failed   error // the error of creating a mount namespace; nil if it succeeds
}

// userSwitch is a sysctl with a value that denies users user namespaces.
type userSwitch struct{ name, value, better string }

// refusal determines the cause; nil if namespaces are permitted.
func (f facts) refusal() *Refusal {
	if f.failed == nil {
		return nil
	}
	if errors.Is(f.failed, syscall.ENOSPC) {
		return &Refusal{Cause: "there are as many mount namespaces as sysctl user.max_mnt_namespaces permits", Remedy: "sysctl -w user.max_mnt_namespaces=10000"}
	}
	r := &Refusal{Remedy: "run as root, or in a container with CAP_SYS_ADMIN"}
	if f.sysAdmin {
		r.Cause = f.forbidden("mount namespaces", f.failed)
		r.Remedy = "run outside the container, or let it: docker run --privileged, privileged: true in a pod's securityContext"
		return r
	}
	r.Cause = "not root"
	if f.root {
		r.Cause = "root has no CAP_SYS_ADMIN here"
		r.Remedy = "give the container that capability: docker run --privileged, privileged: true in a pod's securityContext"
	}
	r.Cause += ", and " + f.users()
	if len(f.switches) > 0 {
		var commands []string
		for _, s := range f.switches {
			commands = append(commands, "sysctl -w "+s.name+"="+s.better)
		}
		r.Remedy += ", or let users have namespaces: " + strings.Join(commands, " ")
	}
	if f.unentered() {
		r.Remedy += ", or, in tests, begin TestMain with namespaces.Enter()"
	}
	return r
}

// unentered reports whether only the program itself is the cause.
func (f facts) unentered() bool {
	return f.tried == nil && len(f.switches) == 0 && len(f.filters) == 0 && !f.chrooted
}

// users describes why a user namespace does not help.
func (f facts) users() string {
	switch {
	case len(f.switches) > 0:
		var values []string
		for _, s := range f.switches {
			values = append(values, "sysctl "+s.name+" is "+s.value)
		}
		return strings.Join(values, ", ")
	case f.unentered():
		return "the program was not started in a user namespace"
	case f.chrooted && len(f.filters) == 0:
		return "a process in a chroot may have no user namespace"
	}
	return f.forbidden("user namespaces", f.tried)
}

// forbidden names the security module that forbids an operation which the kernel would permit.
func (f facts) forbidden(what string, err error) string {
	switch {
	case len(f.filters) > 0:
		return "a seccomp filter, such as that of Docker and Kubernetes, forbids " + strings.Join(f.filters, " and ")
	case f.profile != "":
		return "AppArmor's profile " + f.profile + " forbids " + what + ": " + err.Error()
	case f.seccomp:
		return "a seccomp filter or a security module forbids " + what + ": " + err.Error()
	}
	return "the kernel permits no " + what + ": " + err.Error()
}
