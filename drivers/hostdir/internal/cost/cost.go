//go:build linux

// Package cost makes hostdir slow or wasteful in ways that only load reveals. Tests can thus prove
// which of these costs csisim load finds.
package cost

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
)

// Cost is one deliberate cost.
type Cost struct {
	Name, Help string
	// of wraps calls with the cost.
	of func() grpc.UnaryServerInterceptor
	// start runs before the driver serves; nil for nothing.
	start func(stateDir string) error
}

// All are all costs.
var All = []Cost{
	{"publish-reads-mounts", "NodePublishVolume reads the mount table twice for each mount of a volume in it", publishReadsMounts, nil},
	{"global-lock", "one lock for all calls, which take 10 ms each", globalLock, nil},
	{"keeps-memory", "CreateVolume keeps 256 KiB of memory", keepsMemory, nil},
	{"keeps-descriptors", "NodeStageVolume opens a file and never closes it", keepsDescriptors, nil},
	{"slow-statistics", "NodeGetVolumeStats takes 250 ms", slowStatistics, nil},
	{"slow-start", "the start takes 20 ms for each volume", nil, slowStart},
	{"late-creations", "each fifth CreateVolume takes 1500 ms", lateCreations, nil},
}

// Parse reads names that are separated by commas.
func Parse(names string) (costs []Cost, err error) {
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(All, func(c Cost) bool { return c.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no cost is named %q", name)
		}
		costs = append(costs, All[i])
	}
	return costs, nil
}

// Help lists all costs.
func Help() string {
	var b strings.Builder
	for _, c := range All {
		fmt.Fprintf(&b, "  %-22s %s\n", c.Name, c.Help)
	}
	return b.String()
}

// Start runs the costs that arise at the start of the driver.
func Start(costs []Cost, stateDir string) error {
	for _, c := range costs {
		if c.start != nil {
			if err := c.start(stateDir); err != nil {
				return fmt.Errorf("start with the cost %s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// Calls returns the interceptors of the costs of calls.
func Calls(costs []Cost) (all []grpc.UnaryServerInterceptor) {
	for _, c := range costs {
		if c.of != nil {
			all = append(all, c.of())
		}
	}
	return all
}

// before returns an interceptor that runs a function before each call of one kind.
func before(call string, do func()) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if path.Base(info.FullMethod) == call {
			do()
		}
		return handler(ctx, request)
	}
}

const mountTable = "/proc/self/mountinfo"

func publishReadsMounts() grpc.UnaryServerInterceptor {
	return before("NodePublishVolume", func() {
		table, _ := os.ReadFile(mountTable)
		for range 2 * strings.Count(string(table), "kubernetes.io") {
			_, _ = os.ReadFile(mountTable)
		}
	})
}

func globalLock() grpc.UnaryServerInterceptor {
	var lock sync.Mutex
	return func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		lock.Lock()
		defer lock.Unlock()
		time.Sleep(10 * time.Millisecond)
		return handler(ctx, request)
	}
}

func keepsMemory() grpc.UnaryServerInterceptor {
	var lock sync.Mutex
	var kept [][]byte
	return before("CreateVolume", func() {
		more := make([]byte, 256<<10)
		for i := range more {
			more[i] = 1 // memory without a write is not resident
		}
		lock.Lock()
		defer lock.Unlock()
		kept = append(kept, more)
	})
}

func keepsDescriptors() grpc.UnaryServerInterceptor {
	var lock sync.Mutex
	var kept []*os.File // the garbage collector would close them
	return before("NodeStageVolume", func() {
		if f, err := os.Open(os.DevNull); err == nil {
			lock.Lock()
			defer lock.Unlock()
			kept = append(kept, f)
		}
	})
}

func slowStatistics() grpc.UnaryServerInterceptor {
	return before("NodeGetVolumeStats", func() { time.Sleep(250 * time.Millisecond) })
}

func lateCreations() grpc.UnaryServerInterceptor {
	var calls atomic.Int64
	return before("CreateVolume", func() {
		if calls.Add(1)%5 == 0 {
			time.Sleep(1500 * time.Millisecond)
		}
	})
}

func slowStart(stateDir string) error {
	volumes, err := filepath.Glob(filepath.Join(stateDir, "volumes", "*"))
	time.Sleep(time.Duration(len(volumes)) * 20 * time.Millisecond)
	return err
}
