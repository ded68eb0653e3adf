package check

import "fmt"

// claims creates and deletes volumes that no pod uses; this requires no mounts.
func claims(p *plan) {
	var needs []string
	if !p.facts.Provisions() {
		needs = []string{"the controller service lacks CREATE_DELETE_VOLUME"}
	}
	try := func(title, description string, compose func(*script)) {
		p.try("claims", title, description, needs, func(s *script) {
			s.immediate = true
			compose(s)
		})
	}
	try("one", "A volume is made and deleted.", func(s *script) {
		s.claim(data)
		s.unclaim(data)
	})
	try("many", "Many volumes are made and deleted at once.", func(s *script) {
		var many []claim
		for i := range manyVolumes {
			many = append(many, claim{name: fmt.Sprintf("data-%d", i), form: filesystem, access: oneNodeRW})
		}
		s.claim(many...)
		s.unclaim(many...)
	})
	try("repeated", "CreateVolume and DeleteVolume come twice.", func(s *script) {
		s.fault(`call: "*", repeat: true`)
		s.claim(data)
		s.unclaim(data)
	})
	try("odd-size", "A volume of an odd number of bytes is made and deleted; calls come twice, and answers are lost.", func(s *script) {
		odd := data
		odd.odd = true
		s.fault(`name: twice, call: "*", repeat: true`)
		s.claim(odd)
		s.unclaim(odd)
		s.step("clear-fault: twice")
		s.fault("call: CreateVolume, loseAnswer: true, times: 1")
		s.claim(odd)
		s.unclaim(odd)
	})
	try("lost", "The answers of CreateVolume and DeleteVolume are lost, then late.", func(s *script) {
		for _, call := range []string{"CreateVolume", "DeleteVolume"} {
			s.fault("name: lost-%s, call: %[1]s, loseAnswer: true, times: 1", call)
			s.fault("name: late-%s, call: %[1]s, lateAnswer: true, times: 1", call)
		}
		s.claim(data)
		s.unclaim(data)
	})
}
