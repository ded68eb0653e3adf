package check

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

// script is a scenario under composition: the text of its steps.
type script struct {
	facts  *Facts
	steps  strings.Builder
	expect string
	// every contains steps to insert after each step of a volume's life. Default: none.
	every []string
	// immediate means that volumes are created before a pod needs them, even if they have a
	// topology.
	immediate bool
	// nodes is the number of nodes that the scenario needs. Default: 1, or 2 if a pod is on another
	// node.
	nodes int
	// mounts means that the scenario has pods. devices means that it has pods with raw block
	// volumes.
	mounts, devices bool
	// addons means that sidecars of CSI-Addons run beside the driver.
	addons bool
	// restarts means that the controller plugin is restarted between operations.
	restarts bool
	// clusters names the two clusters, if there are two. in is the cluster of the next steps.
	clusters []string
	in       string
	// unmounts means that attempts to unmount are refused.
	unmounts bool
	// made means that a volume was created and deleted, so that the driver's own files exist.
	made bool
}

// step adds a step in YAML, such as `wait: {pod: web, phase: Running}`.
func (s *script) step(format string, args ...any) {
	s.steps.WriteString("- ")
	if s.in != "" {
		fmt.Fprintf(&s.steps, "in: %s\n  ", s.in)
	}
	fmt.Fprintf(&s.steps, format+"\n", args...)
}

// manifester is a Kubernetes object that can be written as a manifest.
type manifester interface{ manifest(*Facts) string }

// apply adds a step that applies objects.
func (s *script) apply(objects ...manifester) {
	var documents []string
	for _, o := range objects {
		if p, ok := o.(pod); ok {
			s.mounts = true
			s.devices = s.devices || slices.ContainsFunc(p.claims, func(c claim) bool { return c.form == block })
		}
		documents = append(documents, strings.TrimRight(o.manifest(s.facts), "\n"))
	}
	text := strings.Join(documents, "\n---\n")
	s.step("apply: |\n    %s", strings.ReplaceAll(text, "\n", "\n    "))
}

// fault adds a fault.
func (s *script) fault(format string, args ...any) {
	s.step("fault: {"+format+"}", args...)
}

// moment is a place between two steps of a volume's life.
func (s *script) moment() {
	for _, step := range s.every {
		s.step("%s", step)
	}
}

// up makes claims and pods and waits until the pods run.
func (s *script) up(claims []claim, pods ...pod) {
	s.claim(claims...)
	s.run(pods...)
}

// claim makes claims. It waits for their volumes, unless a volume is created only when a pod needs
// it.
func (s *script) claim(claims ...claim) {
	s.apply(asManifests(claims)...)
	s.moment()
	if s.facts.Topology() && !s.immediate {
		return
	}
	for _, c := range claims {
		s.step("wait: {pvc: %s, phase: Bound}", c.name)
	}
	s.moment()
}

// run starts pods and waits until they run.
func (s *script) run(pods ...pod) {
	if slices.ContainsFunc(pods, func(p pod) bool { return p.node != nodeA }) {
		s.nodes = max(s.nodes, 2)
	}
	s.apply(asManifests(pods)...)
	s.moment()
	if len(s.every) > 0 && s.facts.Attaches() {
		s.step("wait: {call: ControllerPublishVolume, code: OK}")
		s.moment()
	}
	s.running(pods...)
	s.moment()
}

func (s *script) running(pods ...pod) {
	for _, p := range pods {
		s.step("wait: {pod: %s, phase: Running}", p.name)
	}
}

// down deletes the pods and claims of up and waits until attachments and volumes are deleted.
func (s *script) down(claims []claim, pods ...pod) {
	s.end(pods...)
	s.detached()
	s.unclaim(claims...)
}

// end deletes pods and waits until they are deleted.
func (s *script) end(pods ...pod) {
	for _, p := range pods {
		s.step("delete: {pod: %s}", p.name)
	}
	s.moment()
	for _, p := range pods {
		s.step("wait: {pod: %s, gone: true}", p.name)
	}
	if len(s.every) > 0 {
		// A kubelet that restarts between a pod's end and NodeUnstageVolume does not find the
		// staged volume again, because it only searches the directories of pods.
		s.step("advance: 1s")
	}
	s.moment()
}

// detached waits until no volume is attached any more.
func (s *script) detached() {
	if s.facts.Attaches() {
		s.step(`wait: {va: "*", gone: true}`)
		s.moment()
	}
}

func (s *script) unclaim(claims ...claim) {
	for _, c := range claims {
		s.step("delete: {pvc: %s}", c.name)
	}
	s.moment()
	if s.facts.Provisions() {
		s.step(`wait: {pv: "*", gone: true}`)
		s.moment()
		return
	}
	for _, c := range claims {
		s.step("delete: {pv: %s}", c.name)
	}
	s.step(`wait: {pv: "*", gone: true}`) // an object of that name may be created again
}

// life is the whole lifecycle of volumes in pods.
func (s *script) life(claims []claim, pods ...pod) {
	s.up(claims, pods...)
	s.down(claims, pods...)
}

// lifeWith adds the life of a volume for a trial in which a fault happens at a call. If the call
// removes the volume from a pod, a second pod finds the content of the first one. A driver that
// cannot unmount may have emptied a volume that was still mounted.
func (s *script) lifeWith(e effect) {
	if !e.undoes() || e.call == "DeleteVolume" {
		s.life([]claim{data}, web(nodeA, data))
		return
	}
	after := pod{name: "after", node: nodeA, claims: []claim{data}}
	s.up([]claim{data}, web(nodeA, data))
	s.end(web(nodeA, data))
	s.detached()
	s.run(after)
	s.down([]claim{data}, after)
}

func asManifests[M manifester](objects []M) []manifester {
	all := make([]manifester, len(objects))
	for i, o := range objects {
		all[i] = o
	}
	return all
}

// text is the scenario as a file.
func (s *script) text(name, description string) (string, error) {
	subject := s.facts.subject
	if s.addons {
		subject.Driver.CSIAddons = s.facts.addonsSidecars(nodeA)
	}
	driver, err := subject.driverYAML()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Composed by csisim check; csisim run runs it.\napiVersion: csisim.dev/v1alpha1\nkind: Scenario\nname: %s\ndescription: %s\n\n", name, description)
	if len(s.clusters) > 0 {
		fmt.Fprintf(&b, "clusters: [%s]\n", strings.Join(s.clusters, ", "))
	}
	b.WriteString(s.facts.subject.clusterYAML(max(s.nodes, 1)))
	fmt.Fprintf(&b, "drivers:\n%s\n", driver)
	if objects := s.objects(); objects != "" {
		fmt.Fprintf(&b, "objects:\n%s\n", objects)
	}
	fmt.Fprintf(&b, "steps:\n%s", s.steps.String())
	if s.expect != "" {
		fmt.Fprintf(&b, "\nexpect:\n%s", s.expect)
	}
	return b.String(), nil
}

// objects are the objects that exist from the beginning.
func (s *script) objects() string {
	objects := csiDriverManifest(s.facts) + s.facts.subject.secretManifests()
	if s.facts.Provisions() && s.facts.Persistent() {
		objects += classManifest(s.facts, s.immediate)
	}
	return objects
}

// parse reads the composed text like any other scenario.
func parse(name, text string) (*scenario.Scenario, error) {
	s, err := scenario.Parse(fileName(name), []byte(text))
	if err != nil {
		return nil, fmt.Errorf("compose scenario %s: %w\n%s", name, err, text)
	}
	return s, nil
}

// Scenario parses the scenario of a trial that is offered.
func (t *Trial) Scenario() (*scenario.Scenario, error) { return parse(t.Name(), t.Text) }

// File returns the name of a file for the scenario.
func (t *Trial) File() string { return fileName(t.Name()) }

func fileName(name string) string { return strings.ReplaceAll(name, "/", "-") + ".yaml" }

// Mode returns the mode of the file: only the owner can read a file with Secrets.
func (t *Trial) Mode() os.FileMode {
	if t.secret {
		return 0o600
	}
	return 0o644
}
