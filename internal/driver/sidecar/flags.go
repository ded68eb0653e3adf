package sidecar

import (
	"cmp"
	"fmt"
	"time"

	"github.com/csisim/csisim/internal/world/component"
)

// Restart is the policy for a sidecar that has exited.
type Restart string

// The restart policies of an exited sidecar: restarted, as in a pod, or not.
const (
	RestartAlways Restart = "always"
	RestartNever  Restart = "never"
)

// Flags are the flags that all sidecars have.
type Flags struct {
	// KubeAPIQPS and KubeAPIBurst bound the requests of each API client: the average number per
	// second, and the number at once. Default: 5 and 10. C-LIB-7
	KubeAPIQPS   Rate `json:"kubeAPIQPS,omitempty" example:"50" doc:"--kube-api-qps: the number of requests to the API server per second; default 5, -1 is no limit."`
	KubeAPIBurst uint `json:"kubeAPIBurst,omitempty" example:"100" doc:"--kube-api-burst: the number of requests at once; default 10."`
	// Restart restarts it after its exit. Default: RestartAlways.
	Restart Restart `json:"restart,omitempty" enum:"always|never" doc:"Whether it is restarted after its exit, as in a pod; default always."`
	// LeaderElection makes the sidecar work only while it holds a Lease. Default: true with several
	// replicas, false with one. C-LIB-4
	LeaderElection *bool `json:"leaderElection,omitempty" doc:"--leader-election: it works only while it holds its Lease, in kube-system; default true if the driver has several replicas, false if it has one."`
	// LeaseDuration is the time for which a lease without renewal prevents other replicas from
	// leading. RenewDeadline is the time for which a leader tries to renew it before it exits.
	// RetryPeriod is the pause between two attempts. Defaults: 15 s, 10 s, 5 s.
	LeaseDuration time.Duration `json:"leaderElectionLeaseDuration,omitzero" example:"30s" doc:"--leader-election-lease-duration: the time for which others wait for a leader that does not renew its lease; default 15s."`
	RenewDeadline time.Duration `json:"leaderElectionRenewDeadline,omitzero" example:"20s" doc:"--leader-election-renew-deadline: the time for which a leader tries to renew its lease before it exits; default 10s."`
	RetryPeriod   time.Duration `json:"leaderElectionRetryPeriod,omitzero" example:"2s" doc:"--leader-election-retry-period: the pause between two attempts to lead, or to renew the lease; default 5s."`

	// Replica is the number of the pod of the controller plugin, counted from 1; 0 if it is the
	// only pod.
	Replica int `json:"-"`
	// Pod is the name of the pod, which identifies a leader.
	Pod string `json:"-"`
	// Election is the election of the replicas. Default: there is one replica.
	Election *Election `json:"-"`
}

// Beside returns the flags of a program that runs beside a plugin.
func (f Flags) Beside(at Target) Flags {
	f.Replica, f.Pod, f.Election = at.Replica, at.Pod, at.Election
	return f
}

// Called returns the name of the program in traces, with its replica if there are several.
func (f Flags) Called(name string) string {
	if f.Replica == 0 {
		return name
	}
	return fmt.Sprintf("%s/%d", name, f.Replica)
}

// Elects reports whether the program works only while it holds a Lease.
func (f Flags) Elects() bool {
	if f.LeaderElection != nil {
		return *f.LeaderElection
	}
	return f.Replica > 0
}

func (f Flags) withLease() Flags {
	f.LeaseDuration = cmp.Or(f.LeaseDuration, 15*time.Second)
	f.RenewDeadline = cmp.Or(f.RenewDeadline, 10*time.Second)
	f.RetryPeriod = cmp.Or(f.RetryPeriod, 5*time.Second)
	return f
}

// CheckElection reports leader election times with which the program would not start. C-LIB-4
func (f Flags) CheckElection() (found []Mistake) {
	f = f.withLease()
	if f.LeaseDuration <= f.RenewDeadline || f.LeaseDuration%time.Second != 0 {
		found = append(found, Mistake{"leaderElectionLeaseDuration", f.LeaseDuration.String(), fmt.Sprintf("whole seconds, more than leaderElectionRenewDeadline, %v", f.RenewDeadline)})
	}
	if least := time.Duration(jitterFactor * float64(f.RetryPeriod)); f.RenewDeadline <= least {
		found = append(found, Mistake{"leaderElectionRenewDeadline", f.RenewDeadline.String(), fmt.Sprintf("more than 1.2 times leaderElectionRetryPeriod, %v", least)})
	}
	return found
}

// limit bounds the requests of a sidecar.
func (f Flags) limit(c *component.Component) {
	c.LimitRequests(component.Core, float64(f.KubeAPIQPS), int(f.KubeAPIBurst))
	c.LimitRequests(component.Snapshots, float64(f.KubeAPIQPS), int(f.KubeAPIBurst))
}
