package manager

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// configMap holds flags of the program. A-MGR-2
const configMap = "csi-addons-config"

// configure reads the flags in the ConfigMap. If it cannot parse one, the program exits, and the
// kubelet restarts it with its backoff. A-MGR-2
func (m *Manager) configure(p *kernel.Process) {
	for exits := 1; ; exits++ {
		found, err := component.Live[*corev1.ConfigMap](p, m.Component, store.Key{Namespace: m.opts.Namespace, Name: configMap})
		if apierrors.IsNotFound(err) {
			return
		}
		opts := m.opts
		if err == nil {
			err = opts.read(found.Data)
		}
		if err == nil {
			m.opts = opts
			return
		}
		m.World.Say(fmt.Sprintf("%s exits: unable to read configmap: %v", Name, err))
		p.Idle(sidecar.CrashLoop(exits + 1))
	}
}

// read applies the values of a ConfigMap.
func (o *Options) read(data map[string]string) (err error) {
	for _, key := range slices.Sorted(maps.Keys(data)) {
		value := data[key]
		switch key {
		case "reclaim-space-timeout":
			o.Timeout, err = time.ParseDuration(value)
		case "volume-health-cleanup-interval":
			o.HealthInterval, err = positive(value)
		case "volume-health-stale-threshold":
			o.HealthThreshold, err = positive(value)
		case "max-concurrent-reconciles":
			o.Workers, err = strconv.Atoi(value)
		case "max-group-pvcs":
			o.MaxGroupClaims, err = between(value, 1, defaultMaxClaims)
		case "csi-addons-node-retry-delay": // A-NODE-8
			var delay int
			delay, err = between(value, 1, 1<<31-1)
			o.NodeRetryDelay = time.Duration(delay)
		case "cronjob-stagger-window":
			var hours int
			hours, err = strconv.Atoi(value)
			o.StaggerHours = &hours
		case "schedule-precedence":
			o.SchedulePrecedence, err = precedence(value)
		default:
			return fmt.Errorf("unknown config key %q", key)
		}
		if err != nil {
			return fmt.Errorf("failed to parse key %q value %q: %w", key, value, err)
		}
	}
	return nil
}

func positive(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err == nil && d <= 0 {
		err = fmt.Errorf("%v is not positive", d)
	}
	return d, err
}

func between(value string, least, most int) (int, error) {
	n, err := strconv.Atoi(value)
	if err == nil && (n < least || n > most) {
		err = fmt.Errorf("%d is not between %d and %d", n, least, most)
	}
	return n, err
}

// precedence accepts old spellings, too. A-MGR-1
func precedence(value string) (string, error) {
	switch value {
	case byClaim, byClass:
		return value, nil
	case "sc-only":
		return byClass, nil
	case "":
		return byClaim, nil
	}
	return "", fmt.Errorf("it is neither %q nor %q", byClaim, byClass)
}
