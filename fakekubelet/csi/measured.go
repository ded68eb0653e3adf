package csi

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/sim/component"
)

// LatencyBounds are the bounds of all histograms of operations and calls, in
// seconds. K-MET-4
var LatencyBounds = []float64{.1, .25, .5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600}

// measured is a connection to a driver whose calls are counted. K-MET-3
type measured struct {
	grpc.ClientConnInterface
	kubelet  *component.Component
	driver   string
	migrated bool
}

// Measured counts and times all calls on a connection to a driver; migrated says
// that they are about a volume of an in-tree plugin. K-MET-3
func Measured(conn grpc.ClientConnInterface, kubelet *component.Component, driver string, migrated bool) grpc.ClientConnInterface {
	return measured{conn, kubelet, driver, migrated}
}

// Invoke makes the call.
func (m measured) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	begin := m.kubelet.Kernel.Elapsed()
	err := m.ClientConnInterface.Invoke(ctx, method, request, answer, opts...)
	m.observe(method, err, m.kubelet.Kernel.Elapsed()-begin)
	return err
}

func (m measured) observe(method string, err error, took time.Duration) {
	code := "unknown-non-grpc"
	if s, ok := status.FromError(err); ok {
		code = s.Code().String()
	}
	m.kubelet.Metrics.Observe("csi_operations_seconds", LatencyBounds, took,
		"driver_name", m.driver, "method_name", method, "grpc_status_code", code, "migrated", strconv.FormatBool(m.migrated))
}
