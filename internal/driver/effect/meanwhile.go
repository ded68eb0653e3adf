package effect

import "github.com/csisim/csisim/drivers/fault"

// meanwhile makes a user, an administrator or the node act during the call, which continues
// normally.
var meanwhile = &Effect{
	Name: fault.Meanwhile,
	InSearches: func(kind fault.Kind, c Called) []fault.Fault {
		switch {
		case kind == fault.User && c.OnNode:
			return acting(append(ofUsers, fault.Drains, fault.DeletesNode)...)
		case kind == fault.User:
			return acting(ofUsers...)
		case kind == fault.Sockets && c.OnNode:
			return acting(fault.SocketVanishes, fault.RegistersTwice)
		}
		return nil
	},
	Never:   words("concurrent actions are drawn in a search only"),
	InWords: func(f *fault.Fault) string { return string(f.Action) },
	Do: func(c Call, f *fault.Fault) error {
		c.Act(f.Action)
		return c.PassShown()
	},
}

// ofUsers lists the actions of users and administrators that may happen at any call.
var ofUsers = []fault.Action{
	fault.PodsAgain, fault.PodsByForce, fault.ClaimsAgain, fault.AllAgain, fault.Scales, fault.Edits, fault.Detaches,
}

// acting returns actions as faults.
func acting(actions ...fault.Action) (all []fault.Fault) {
	for _, a := range actions {
		all = append(all, fault.Fault{Name: string(a), Effect: fault.Meanwhile, Action: a})
	}
	return all
}
