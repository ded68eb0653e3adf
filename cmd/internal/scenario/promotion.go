package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/effect"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/real/promotion"
	"github.com/csisim/csisim/internal/world/version"
)

// Promotion describes how a part of a scenario runs on a real cluster.
type Promotion struct {
	What string // the step's title, or the name of another part
	Line int
	// Becomes describes the action on a real cluster. Never is the reason why the action is
	// impossible. One of the two is empty.
	Becomes, Never string
	// Warning is printed before the run; "" for none.
	Warning string
}

// Promote describes the steps on a real cluster. Before them it lists the parts of the scenario
// that a real cluster cannot have.
func (s *Scenario) Promote(o promotion.TargetOptions) (all []Promotion) {
	all = s.neverThere(o)
	there := s.podsAtFirst()
	for _, step := range s.Steps {
		p := s.promoted(step.action).at(o, step.action)
		if why := there.after(step.action); why != "" {
			p = never("%s", why)
		}
		p.What, p.Line = step.title, step.Line
		all = append(all, p)
	}
	return all
}

func becomes(format string, args ...any) Promotion {
	return Promotion{Becomes: fmt.Sprintf(format, args...)}
}
func never(format string, args ...any) Promotion {
	return Promotion{Never: fmt.Sprintf(format, args...)}
}

// longAdvance bounds the pause of a run without a warning.
const longAdvance = 10 * time.Minute

// promoted describes a kind of step on a real cluster.
func promoted(a action) Promotion {
	switch s := a.(type) {
	case *applyStep:
		return becomes("server-side apply of %s", named(s.objects))
	case *deleteStep, *patchStep, *labelStep, cordonStep, uncordonStep, *taintStep, *untaintStep:
		return becomes("a request to the API")
	case *waitStep:
		return becomes("wait for it, as long by the wall clock")
	case *settleStep:
		return becomes("wait until nothing happens for 3 s")
	case *advanceStep:
		p := becomes("sleep %v", s.Duration.Duration)
		if s.Duration.Duration > longAdvance {
			p.Warning = fmt.Sprintf("nothing happens for %v", s.Duration.Duration)
		}
		return p
	case noteStep, *ledgerStep:
		return becomes("the same")
	case *expectStep:
		return becomes("the same, held against the real run")
	case *faultStep:
		return s.promoted()
	case clearFaultStep:
		return becomes("a request to the proxies in the drivers' pods")
	case killKubeletStep, restartKubeletStep, startKubeletStep:
		return becomes("SIGKILL for the kubelet, or its start, with systemctl on the node")
	case *killDriverStep:
		if s.WithSocket {
			return never("the proxy that has started the driver serves its socket")
		}
		return becomes("an order to the proxy that has started the driver")
	case *startDriverStep, *restartDriverStep:
		return becomes("an order to the proxy that has started the driver")
	case *stopDriverStep:
		if s.KeepRegistrar {
			return becomes("a request to the proxy that has started the driver; the pod stays")
		}
		return becomes("the driver's pod is taken off the node, or the proxy stops the controller plugin")
	case *stopRegistrarStep, *killRegistrarStep, *startRegistrarStep:
		return becomes("an order to csisim, which runs the registrar in its container")
	case powerOffStep, powerOnStep:
		return becomes("the engine kills, or starts, the node's container")
	case restartControllerStep:
		return controllerPromoted(string(s), "SIGKILL for %s, which the kubelet starts again")
	case killControllerStep:
		return controllerPromoted(string(s), "SIGKILL for %s, after the kubelet of its node, which would start it again, was stopped")
	case startControllerStep:
		return controllerPromoted(string(s), "the kubelet of its node is started, and it starts %s")
	case *installDriverStep:
		return becomes("the driver's manifests are applied, and its plugins awaited")
	case *recordFilesStep:
		return becomes("a listing on the node")
	case *nodeInfoStep, *volumeConditionStep, *detachStep:
		return becomes("an order to the storage system of the reference driver, in its pod")
	case *readFileStep, *writeFileStep:
		return becomes("done on the pod's node, where the volume is published")
	}
	return unpromoted(a)
}

// promoted describes a step on a real cluster. The kubelet runs the containers of drivers that are
// deployed by their own manifests.
func (s *Scenario) promoted(a action) Promotion {
	restarts, fields := false, pluginFields{}
	switch step := a.(type) {
	case killControllerStep:
		if _, driver, _ := strings.Cut(string(step), "/"); driver != "" && s.isOwn(driver) {
			return never("the kubelet starts a sidecar of a driver with manifests of its own again at once; restart-controller can be done")
		}
		return promoted(a)
	case *detachStep:
		if slices.ContainsFunc(s.Drivers, func(d Driver) bool { return d.Mock == nil }) {
			return never("only the storage system of the reference driver can be reached behind Kubernetes' back")
		}
		return promoted(a)
	case *restartDriverStep:
		restarts, fields = true, step.pluginFields
	case *killDriverStep:
		fields = step.pluginFields
	case *startDriverStep:
		fields = step.pluginFields
	case *stopDriverStep:
		fields = step.pluginFields
	case *stopRegistrarStep, *killRegistrarStep, *startRegistrarStep:
		if s.isOwn("") {
			return never("the kubelet starts the registrar of a driver with manifests of its own again at once")
		}
		return promoted(a)
	default:
		return promoted(a)
	}
	switch {
	case !s.isOwn(fields.Driver):
		return promoted(a)
	case restarts:
		return becomes("the plugin's pod is deleted, and its workload makes another; a controller plugin gets SIGTERM, and the kubelet starts its container again")
	}
	return never("the kubelet starts the container of a driver with manifests of its own again at once; restart-driver can be done")
}

// endsRegistrars reports whether a step ends or starts a registrar.
func (s *Scenario) endsRegistrars() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool {
		switch step.action.(type) {
		case *stopRegistrarStep, *killRegistrarStep, *startRegistrarStep:
			return true
		}
		return false
	})
}

// isOwn reports whether a driver is deployed by its own manifests; "" names the only driver.
func (s *Scenario) isOwn(driver string) bool {
	return slices.ContainsFunc(s.Drivers, func(d Driver) bool { return d.own != nil && (driver == "" || d.name() == driver) })
}

// unpromoted returns the reason why a step is impossible there.
func unpromoted(a action) Promotion {
	switch a.(type) {
	case *slowDownStep:
		return never("csisim cannot slow down the requests of a real program")
	case *upgradeStep:
		return never("a real cluster is not upgraded in mid-run")
	case *upgradeDriverStep:
		return never("%s", effect.OneRelease)
	case *failServiceStep, *recoverServicesStep:
		return never("stand-ins for services run in the simulation only")
	case *uninstallDriverStep:
		return never("a driver is not uninstalled there yet: the storage system of the reference driver would go with its pod")
	case *shutDownStep:
		return never("the kubelets of kind's nodes have no grace for a shutdown")
	}
	return never("only a simulated cluster can do this")
}

// controllerPromoted describes a step that concerns a controller; how contains its container.
func controllerPromoted(name, how string) Promotion {
	sidecar, _, is := strings.Cut(name, "/")
	switch why := promotion.NeverController(name); {
	case why != "":
		return never("%s", why)
	case is:
		return becomes(how, "the container "+sidecar)
	case name == controlPlane:
		return becomes(how, "the static pod's container")
	}
	return becomes(how, "its container")
}

func (s *faultStep) promoted() Promotion {
	why := promotion.NeverFault(s.fault())
	switch {
	case why != "":
		return never("%s", why)
	case slices.Contains([]string{string(fault.Kubelet), string(fault.Node), string(fault.Caller)}, s.Kill):
		return becomes("the proxy holds the call until the %s was killed", s.Kill)
	case s.Kill != "" && s.Kill != string(fault.Driver):
		return controllerPromoted(s.Kill, "the proxy holds the call until %s was killed")
	}
	return becomes("a fault in the proxies of the drivers' pods, each of which counts for itself")
}

// neverThere lists the parts of the scenario's cluster and drivers that a real cluster cannot have.
func (s *Scenario) neverThere(o promotion.TargetOptions) (all []Promotion) {
	add := func(field, what, why string) {
		all = append(all, Promotion{What: what, Line: s.positions.At(field).Line, Never: why})
	}
	if name, isKind := o.IsKind(); isKind && name == "" { // an object with a fixed name may exist
		if why := promotion.NeverVersion(s.Subject(), o); why != "" {
			add("kubernetes", "kubernetes "+version.Version(s.Kubernetes).String(), why)
		}
	}
	if len(s.Clusters) > 0 {
		add("clusters", "clusters", promotion.OneCluster)
	}
	if len(s.Containers) > 0 {
		add("containers", "containers", "containers of a real cluster run the program of their image")
	}
	if len(s.Cluster.Migration) > 0 || s.Cluster.Legacy != nil {
		add("cluster", "cluster.migration, cluster.legacy", promotion.NoHistory)
	}
	if s.Cluster.FeatureGates != (FeatureGates{}) || len(s.Cluster.Controllers.names()) > 0 {
		add("cluster", "cluster.featureGates, cluster.controllers", promotion.OnlyDefaults)
	}
	if s.Cluster.KubeletDir != (KubeletDir{}) {
		add("cluster", "cluster.kubeletDir", "the kubelets of a real cluster keep their directory")
	}
	if o := s.firstObject(isGroupSnapshot); o != nil && !slices.ContainsFunc(s.Drivers, Driver.definesSnapshots) {
		all = append(all, Promotion{What: nameOf(*o), Line: o.At.Line, Never: "the kinds of snapshots of groups are not deployed yet"})
	}
	for i, n := range s.Cluster.Nodes.options() {
		if why := promotion.NeverNode(n); why != "" {
			add(strict.Index("cluster.nodes", i), "node "+n.Name, why)
		}
	}
	for i := range s.Always {
		add(strict.Index("always", i), "always "+s.Always[i].That.text, "a real cluster has no instants: say it with expect, or in a search")
	}
	for i, d := range s.Drivers {
		if why := d.neverThere(); why != "" {
			add(strict.Index("drivers", i), "driver "+d.name(), why)
		}
	}
	return all
}

// firstObject returns the first object of the scenario and its steps for which is returns true; nil
// if there is none.
func (s *Scenario) firstObject(is func(object) bool) *object {
	all := slices.Clone(s.objects)
	for _, step := range s.Steps {
		if apply, ok := step.action.(*applyStep); ok {
			all = append(all, apply.objects...)
		}
	}
	if i := slices.IndexFunc(all, is); i >= 0 {
		return &all[i]
	}
	return nil
}

// needsSnapshots reports whether the cluster must have the snapshot kinds. They are not part of
// Kubernetes, and no driver's own manifests define them.
func (s *Scenario) needsSnapshots() bool {
	isSnapshot := func(o object) bool { return o.GetObjectKind().GroupVersionKind().Group == snapshotv1.GroupName }
	return s.firstObject(isSnapshot) != nil && !slices.ContainsFunc(s.Drivers, Driver.definesSnapshots)
}

// isGroupSnapshot reports whether an object is of a kind of group snapshots.
func isGroupSnapshot(o object) bool {
	return strings.HasPrefix(o.GetObjectKind().GroupVersionKind().Group, "groupsnapshot.")
}

func (d Driver) neverThere() string {
	if d.own != nil {
		return d.neverByOwn()
	}
	return promotion.NeverDriver(d.options(""))
}
