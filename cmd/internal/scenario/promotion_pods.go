package scenario

import (
	"fmt"
	"slices"
)

// pods is the part of the nodes' state of a real cluster that later steps need.
type pods struct {
	nodes []string
	// silent are nodes with a kubelet that is down.
	silent map[string]bool
	// gone lists, by driver, the nodes without a pod of the driver's plugin, because the pod was
	// deleted or never existed. "" names the only driver.
	gone map[string]map[string]bool
}

// podsAtFirst returns the state at the first step.
func (s *Scenario) podsAtFirst() *pods {
	p := &pods{nodes: s.NodeNames(), silent: map[string]bool{}, gone: map[string]map[string]bool{}}
	for _, d := range s.Drivers {
		for _, node := range d.Down {
			p.take(d.name(), node)
			if len(s.Drivers) == 1 {
				p.take("", node)
			}
		}
	}
	return p
}

func (p *pods) take(driver, node string) {
	if p.gone[driver] == nil {
		p.gone[driver] = map[string]bool{}
	}
	p.gone[driver][node] = true
}

// after applies a step to the state. It returns the reason why the step is impossible; "" if it is
// possible.
func (p *pods) after(a action) string {
	switch s := a.(type) {
	case killKubeletStep:
		p.silent[string(s)] = true
	case startKubeletStep:
		delete(p.silent, string(s))
	case restartKubeletStep:
		delete(p.silent, string(s))
	case powerOnStep:
		delete(p.silent, string(s))
	case *stopDriverStep:
		if !s.KeepRegistrar {
			p.each(s.pluginFields, func(node string) { p.take(s.Driver, node) })
		}
	case *restartDriverStep:
		p.each(s.pluginFields, func(node string) { p.take(s.Driver, node) })
		return p.starts(s.pluginFields)
	case *startDriverStep:
		return p.starts(s.pluginFields)
	}
	return ""
}

// starts applies the start of plugins to the state. A plugin without a pod needs the kubelet of its
// node.
func (p *pods) starts(fields pluginFields) (why string) {
	p.each(fields, func(node string) {
		if p.gone[fields.Driver][node] && p.silent[node] {
			why = fmt.Sprintf("the kubelet of %s, which would start the plugin's pod, is down: start-kubelet comes first", node)
		}
		delete(p.gone[fields.Driver], node)
	})
	return why
}

// each calls do with the nodes of the selected plugins.
func (p *pods) each(fields pluginFields, do func(node string)) {
	for _, node := range p.nodes {
		if !fields.Controller && slices.Contains([]string{"", node}, fields.Node) {
			do(node)
		}
	}
}
