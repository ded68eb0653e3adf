package check

import "fmt"

// claims: volumes are made and deleted, and no pod uses them; that needs no node on
// which something can be mounted.
func claims(p *plan) {
	var needs []string
	if !p.facts.Provisions() {
		needs = []string{"the controller service lacks CREATE_DELETE_VOLUME"}
	} else if p.facts.Topology() {
		needs = []string{"volumes are made when pods need them: the driver has VOLUME_ACCESSIBILITY_CONSTRAINTS"}
	}
	p.try("claims", "one", "A volume is made and deleted.", needs, func(s *script) {
		s.claim(data)
		s.unclaim(data)
	})
	p.try("claims", "many", "Many volumes are made and deleted at once.", needs, func(s *script) {
		var many []claim
		for i := range manyVolumes {
			many = append(many, claim{name: fmt.Sprintf("data-%d", i), form: filesystem, access: oneNodeRW})
		}
		s.claim(many...)
		s.unclaim(many...)
	})
	p.try("claims", "repeated", "CreateVolume and DeleteVolume come twice.", needs, func(s *script) {
		s.fault(`call: "*", repeat: true`)
		s.claim(data)
		s.unclaim(data)
	})
	p.try("claims", "lost", "The answers of CreateVolume and DeleteVolume are lost, then late.", needs, func(s *script) {
		for _, call := range []string{"CreateVolume", "DeleteVolume"} {
			s.fault("name: lost-%s, call: %[1]s, loseAnswer: true, times: 1", call)
			s.fault("name: late-%s, call: %[1]s, lateAnswer: true, times: 1", call)
		}
		s.claim(data)
		s.unclaim(data)
	})
}
