package oracle

import (
	"context"
	"errors"
	"net"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"
	"k8s.io/kubernetes/pkg/registry/core/service/storage"
)

// services allocates the addresses and ports of a Service before its validation, as in a kind
// cluster.
var services = newServices()

// addresses is one range of addresses. For an address outside the range, it returns the same error
// as an API server with several ranges.
type addresses struct{ ipallocator.Interface }

func (a addresses) Allocate(ip net.IP) error {
	err := a.Interface.Allocate(ip)
	var other *ipallocator.ErrNotInRange
	if errors.As(err, &other) {
		return ipallocator.ErrMismatchedNetwork
	}
	return err
}

func (a addresses) DryRun() ipallocator.Interface { return addresses{a.Interface.DryRun()} }

func newServices() *storage.REST {
	_, subnet, err := net.ParseCIDR("10.96.0.0/16")
	must(err)
	ips, err := ipallocator.NewInMemory(subnet)
	must(err)
	ports, err := portallocator.NewInMemory(utilnet.PortRange{Base: 30000, Size: 2768})
	must(err)
	services, _, _, err := storage.NewREST(noStorage{}, api.IPv4Protocol, map[api.IPFamily]ipallocator.Interface{api.IPv4Protocol: addresses{ips}}, ports, nil, nil, nil)
	must(err)
	return services
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// noStorage stores nothing: the used parts of services do not need it.
type noStorage struct{}

func (noStorage) GetRESTOptions(schema.GroupResource, runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{StorageConfig: &storagebackend.ConfigForResource{}, ResourcePrefix: "services", Decorator: func(
		*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object, func() runtime.Object,
		apistorage.AttrFunc, apistorage.IndexerFuncs, *cache.Indexers,
	) (apistorage.Interface, factory.DestroyFunc, error) {
		return nil, func() {}, nil
	}}, nil
}

// begin runs the steps before the checks of a write. old is the replaced object; nil for a new one.
func begin(ctx context.Context, obj, old runtime.Object) error {
	if pod, isPod := obj.(*api.Pod); isPod && old != nil {
		return admitUpdate(ctx, pod, old)
	}
	if _, isService := obj.(*api.Service); !isService {
		return nil
	}
	var finish registry.FinishFunc
	var err error
	if old == nil {
		finish, err = services.BeginCreate(ctx, obj, &metav1.CreateOptions{})
	} else {
		finish, err = services.BeginUpdate(ctx, obj, old, &metav1.UpdateOptions{})
	}
	if err == nil {
		finish(ctx, false) // releases the allocated addresses
	}
	return err
}
