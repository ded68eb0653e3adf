package csi

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/operation"
)

// measured is a connection to a driver that counts its calls. K-MET-3
type measured struct {
	grpc.ClientConnInterface
	kubelet  *component.Component
	driver   string
	migrated bool
}

// Measured counts and times all calls on a connection to a driver. migrated means that they concern
// a volume of an in-tree plugin. K-MET-3
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
	m.kubelet.Metrics.Observe("csi_operations_seconds", operation.LatencyBounds, took,
		"driver_name", m.driver, "method_name", method, "grpc_status_code", code, "migrated", strconv.FormatBool(m.migrated))
}
