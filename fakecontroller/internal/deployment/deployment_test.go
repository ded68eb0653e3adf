package deployment

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// set returns a set with a number of requested and a number of available pods.
func set(name string, asked, available int32) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.ReplicaSetSpec{Replicas: &asked},
		Status: appsv1.ReplicaSetStatus{Replicas: asked, AvailableReplicas: available},
	}
}

func rolling(surge, unavailable string) appsv1.DeploymentStrategy {
	s, u := intstr.Parse(surge), intstr.Parse(unavailable)
	return appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &s, MaxUnavailable: &u}}
}

func TestWhichSetChangesItsSizeNext(t *testing.T) {
	quarter, recreate := rolling("25%", "25%"), appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	for name, tt := range map[string]struct {
		strategy   appsv1.DeploymentStrategy
		fresh, old *appsv1.ReplicaSet
		want       string
	}{
		"all at once at first":                 {quarter, set("fresh", 0, 0), set("old", 0, 0), "fresh 4"},
		"one more than asked for":              {quarter, set("fresh", 0, 0), set("old", 4, 4), "fresh 1"},
		"one of four may be missing":           {quarter, set("fresh", 1, 0), set("old", 4, 4), "old 3"},
		"then none more":                       {quarter, set("fresh", 2, 0), set("old", 3, 3), "none"},
		"pods that are down go first":          {quarter, set("fresh", 1, 0), set("old", 4, 2), "old 3"},
		"available pods let more old ones end": {quarter, set("fresh", 2, 2), set("old", 3, 3), "old 1"},
		"done":                                 {quarter, set("fresh", 4, 4), set("old", 0, 0), "none"},
		"too many":                             {quarter, set("fresh", 5, 5), set("old", 0, 0), "fresh 4"},
		"no surge":                             {rolling("0", "1"), set("fresh", 0, 0), set("old", 4, 4), "old 3"},
		"nothing may be missing":               {rolling("1", "0"), set("fresh", 1, 0), set("old", 4, 4), "none"},
		"recreate ends the old first":          {recreate, set("fresh", 0, 0), set("old", 4, 4), "old 0"},
		"recreate makes the new ones after":    {recreate, set("fresh", 0, 0), set("old", 0, 0), "fresh 4"},
		"nothing goes if nothing can change":   {rolling("0%", "0%"), set("fresh", 0, 0), set("old", 4, 4), "old 3"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &rollout{
				Deployment: &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(4)), Strategy: tt.strategy}},
				fresh:      tt.fresh, old: []*appsv1.ReplicaSet{tt.old},
			}
			got := "none"
			if s, size := r.next(); s != nil {
				got = fmt.Sprintf("%s %d", s.Name, size)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// C-DEP-1
func TestStatusShowsTheProgressOfARollout(t *testing.T) {
	at := func(minutes int) metav1.Time {
		return metav1.NewTime(time.Date(2024, 1, 1, 0, minutes, 0, 0, time.UTC))
	}
	for _, c := range []struct {
		says     string
		fresh    *appsv1.ReplicaSet
		was      appsv1.DeploymentStatus
		reason   string // previous reason of Progressing, ten minutes old
		deadline int32
		want     string
	}{
		{says: "done", fresh: set("fresh", 4, 4), reason: setUpdated, want: "Available=True/MinimumReplicasAvailable Progressing=True/NewReplicaSetAvailable"},
		{says: "one more is available", fresh: set("fresh", 4, 3), was: appsv1.DeploymentStatus{Replicas: 4, UpdatedReplicas: 4, AvailableReplicas: 2},
			reason: setUpdated, want: "Available=True/MinimumReplicasAvailable Progressing=True/ReplicaSetUpdated"},
		{says: "it stands still, but not for long enough", fresh: set("fresh", 4, 2), was: appsv1.DeploymentStatus{Replicas: 4, UpdatedReplicas: 4, AvailableReplicas: 2},
			reason: setUpdated, deadline: 601, want: "Progressing=True/ReplicaSetUpdated Available=False/MinimumReplicasUnavailable"},
		{says: "it stands still for too long", fresh: set("fresh", 4, 2), was: appsv1.DeploymentStatus{Replicas: 4, UpdatedReplicas: 4, AvailableReplicas: 2},
			reason: setUpdated, deadline: 599, want: "Available=False/MinimumReplicasUnavailable Progressing=False/ProgressDeadlineExceeded"},
		{says: "a rollout that was done does not fail later", fresh: set("fresh", 4, 2), was: appsv1.DeploymentStatus{Replicas: 4, UpdatedReplicas: 4, AvailableReplicas: 4},
			reason: setComplete, deadline: 1, want: "Progressing=True/NewReplicaSetAvailable Available=False/MinimumReplicasUnavailable"},
		{says: "no deadline", fresh: set("fresh", 4, 2), reason: setUpdated, deadline: math.MaxInt32, want: "Available=False/MinimumReplicasUnavailable"},
	} {
		t.Run(c.says, func(t *testing.T) {
			if c.deadline == 0 {
				c.deadline = 600
			}
			r := &rollout{fresh: c.fresh, Deployment: &appsv1.Deployment{Spec: appsv1.DeploymentSpec{
				Replicas: new(int32(4)), Strategy: rolling("25%", "25%"), ProgressDeadlineSeconds: &c.deadline,
			}, Status: c.was}}
			r.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: "True", Reason: c.reason, LastUpdateTime: at(0)}}
			var got []string
			for _, c := range r.status(at(10)).Conditions {
				got = append(got, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
			}
			assert.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

func TestOldSetsAreKeptUpToTheRequestedNumber(t *testing.T) {
	r := &rollout{
		Deployment: &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(1)), RevisionHistoryLimit: new(int32(1))}},
		fresh:      set("fresh", 1, 1),
		old:        []*appsv1.ReplicaSet{set("first", 0, 0), set("second", 1, 1), set("third", 0, 0)},
	}
	forgotten := r.forgotten()
	assert.Len(t, forgotten, 1)
	assert.Equal(t, "first", forgotten[0].Name)
}
