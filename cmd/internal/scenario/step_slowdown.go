package scenario

import "github.com/csisim/csisim/internal/input/strict"

func init() {
	register("slow-down", "Makes each request of a controller, sidecar or kubelet to the API server take time, so that later steps happen in the middle of its reactions.",
		`slow-down: {controller: csi-provisioner/mock.csi.csisim.dev, request: 2s}`, &slowDownStep{})
}

// slowDownStep sets the pace of one program.
type slowDownStep struct {
	Controller string          `json:"controller,omitempty" example:"attachdetach" doc:"A controller, a sidecar as csi-attacher/<driver>, or kube-controller-manager for all controllers in it."`
	Kubelet    string          `json:"kubelet,omitempty" example:"node-a" doc:"The node of the kubelet."`
	Request    strict.Duration `json:"request" want:"required" example:"2s" doc:"The virtual time that passes before each request has its effect; 0s removes the delay."`
}

func (s *slowDownStep) check(c *checker) {
	if (s.Controller == "") == (s.Kubelet == "") {
		c.report("", "a step without a component", "controller or kubelet, one of them")
		return
	}
	if s.Kubelet != "" {
		c.node("kubelet", s.Kubelet)
	} else {
		c.controller("controller", s.Controller)
	}
}

func (s *slowDownStep) do(r *runner) error {
	cluster, err := r.simulation()
	if err != nil {
		return err
	}
	if s.Kubelet != "" {
		return cluster.SlowKubelet(s.Kubelet, s.Request.Duration)
	}
	return cluster.SlowController(s.Controller, s.Request.Duration)
}
