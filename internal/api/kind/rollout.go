package kind

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// share checks a number of pods, or a percentage of them.
func share(at *field.Path, n intstr.IntOrString) field.ErrorList {
	if n.Type == intstr.Int {
		return natural(at, int64(n.IntValue()))
	}
	return invalid(at, n, utilvalidation.IsValidPercent(n.StrVal))
}

// atMostAll checks that a percentage is at most 100.
func atMostAll(at *field.Path, n intstr.IntOrString) field.ErrorList {
	if percent, ok := percentOf(n); ok && percent > 100 {
		return field.ErrorList{field.Invalid(at, n, "must not be greater than 100%")}
	}
	return nil
}

func percentOf(n intstr.IntOrString) (percent int, ok bool) {
	if n.Type != intstr.String || len(utilvalidation.IsValidPercent(n.StrVal)) > 0 {
		return 0, false
	}
	percent, _ = strconv.Atoi(strings.TrimSuffix(n.StrVal, "%"))
	return percent, true
}

// isNone reports whether a share amounts to no pods.
func isNone(n intstr.IntOrString) bool {
	if percent, ok := percentOf(n); ok {
		return percent == 0
	}
	return n.IntValue() == 0
}

// tally is a number in a status.
type tally struct {
	name string
	n    int64
}

// tallies checks that numbers are not negative. Unset fields are passed as 0.
func tallies(all ...tally) (errs field.ErrorList) {
	for _, c := range all {
		errs = append(errs, natural(field.NewPath("status", c.name), c.n)...)
	}
	return errs
}

// atMost checks that numbers of a status do not exceed another number.
func atMost(limit tally, rule string, all ...tally) (errs field.ErrorList) {
	for _, c := range all {
		if c.n > limit.n {
			errs = append(errs, field.Invalid(field.NewPath("status", c.name), c.n, "cannot be greater than "+rule))
		}
	}
	return errs
}

// collisions checks that a count of collisions does not decrease.
func collisions(now, was *int32) field.ErrorList {
	if was == nil || now != nil && *now >= *was {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("status", "collisionCount"), orZero(now), "cannot be decremented")}
}

func orZero(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}
