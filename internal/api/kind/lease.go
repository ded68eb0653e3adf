package kind

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func init() {
	register(Kind{
		Group: "coordination.k8s.io", Version: "v1", Name: "Lease",
		traits: conditional | anyFinalizer, rules: leaseRules,
		Columns: []Column{nameColumn, text("Holder", func(l *coordinationv1.Lease) string {
			if l.Spec.HolderIdentity == nil {
				return ""
			}
			return *l.Spec.HolderIdentity
		}), ageColumn},
	})
}

var leaseRules = rules[*coordinationv1.Lease]{
	createdByUpdate: true,
	fill: func(obj *coordinationv1.Lease) { // the gate CoordinatedLeaderElection is beta and off
		obj.Spec.Strategy, obj.Spec.PreferredHolder = nil, nil
	},
	validate:       func(obj *coordinationv1.Lease) field.ErrorList { return checkLease(&obj.Spec) },
	validateUpdate: func(obj, _ *coordinationv1.Lease) field.ErrorList { return checkLease(&obj.Spec) },
}

func checkLease(spec *coordinationv1.LeaseSpec) field.ErrorList {
	var errs field.ErrorList
	if d := spec.LeaseDurationSeconds; d != nil && *d <= 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "leaseDurationSeconds"), *d, "must be greater than 0"))
	}
	if n := spec.LeaseTransitions; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "leaseTransitions"), *n, "must be greater than or equal to 0"))
	}
	return errs
}
