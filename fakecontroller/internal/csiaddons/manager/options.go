package manager

import (
	"cmp"
	"time"
)

// Options are the flags of the program. The ConfigMap csi-addons-config in its namespace
// overrides them. A-MGR-1, A-MGR-2
type Options struct {
	// Timeout bounds the calls that reclaim space. Default: 3 min.
	Timeout time.Duration `json:"reclaimSpaceTimeout,omitzero" example:"1m" doc:"--reclaim-space-timeout: the deadline of each call that reclaims space; default 3m."`
	// NodeRetryDelay is the pause before another attempt to reach a sidecar. It doubles each time.
	// Default: 5 ns, because the flag's default 5 has no unit. A-NODE-8
	NodeRetryDelay time.Duration `json:"nodeRetryDelay,omitzero" example:"5s" doc:"--csi-addons-node-retry-delay with its unit; default 5ns: the flag's default 5 has no unit."`
	// Namespace is the namespace of its ConfigMap. Default: csi-addons-system.
	Namespace string `json:"namespace,omitempty" doc:"--namespace: the namespace of the ConfigMap csi-addons-config that it reads when it starts; default csi-addons-system."`
	// SchedulePrecedence sets the precedence of schedules. Default: pvc.
	SchedulePrecedence string `json:"schedulePrecedence,omitempty" enum:"pvc|storageclass" doc:"--schedule-precedence: the source of a schedule. pvc: the claim, otherwise its namespace, otherwise its class. storageclass: only the class. Default pvc."`
	// StaggerHours are the hours within which cron jobs of one schedule are staggered.
	// Default: 2. 0 turns it off.
	StaggerHours *int `json:"cronjobStaggerWindow,omitempty" example:"0" doc:"--cronjob-stagger-window: the hours over which jobs that begin at the same time are spread, 0 for none; default 2."`
	// MaxGroupClaims is the maximum number of claims in a group. Default: 100.
	MaxGroupClaims int `json:"maxGroupPVC,omitempty" doc:"--max-group-pvc: the largest number of claims in a group; default 100."`
	// LeaderElect makes it work only while it holds a Lease in its namespace. Default: false.
	// A-ARCH-1
	LeaderElect bool `json:"leaderElect,omitempty" doc:"--leader-elect: it works only while it holds the Lease e8cd140a.openshift.io in its namespace, which must exist; default false."`
	// EnableAuth makes it call sidecars over TLS with its token. Default: true. A-POOL-2
	EnableAuth *bool `json:"enableAuth,omitempty" doc:"--enable-auth: it calls sidecars by TLS, with the token of its service account; default true. A sidecar must have the same."`
	// Workers is the number of objects of a kind that are processed at once. Default: 100.
	Workers int `json:"maxConcurrentReconciles,omitempty" doc:"--max-concurrent-reconciles; default 100."`
	// HealthInterval is the interval of searches for old annotations of volume conditions.
	// HealthThreshold is the age from which an annotation is old. Defaults: 30 min and 2 h.
	// A-COND-6
	HealthInterval  time.Duration `json:"volumeHealthCleanupInterval,omitzero" doc:"--volume-health-cleanup-interval: the interval at which expired annotations of volume conditions are removed; default 30m."`
	HealthThreshold time.Duration `json:"volumeHealthStaleThreshold,omitzero" doc:"--volume-health-stale-threshold: the age at which they expire; default 2h."`
}

const (
	defaultTimeout      = 3 * time.Minute
	defaultStaggerHours = 2
	defaultMaxClaims    = 100
)

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.NodeRetryDelay = cmp.Or(o.NodeRetryDelay, 5*time.Nanosecond)
	o.Namespace = o.In()
	o.SchedulePrecedence = cmp.Or(o.SchedulePrecedence, byClaim)
	if o.StaggerHours == nil {
		hours := defaultStaggerHours
		o.StaggerHours = &hours
	}
	o.MaxGroupClaims = cmp.Or(o.MaxGroupClaims, defaultMaxClaims)
	o.Workers = cmp.Or(o.Workers, 100)
	o.HealthInterval = cmp.Or(o.HealthInterval, 30*time.Minute)
	o.HealthThreshold = cmp.Or(o.HealthThreshold, 2*time.Hour)
	return o
}

// In returns the namespace of the program.
func (o Options) In() string { return cmp.Or(o.Namespace, "csi-addons-system") }

func (o Options) secured() bool { return o.EnableAuth == nil || *o.EnableAuth }

// staggerWindow returns the time over which jobs are distributed. A-RS-13
func (o Options) staggerWindow() time.Duration {
	return time.Duration(*o.StaggerHours) * time.Hour
}
