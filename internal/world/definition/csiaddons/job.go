package csiaddons

// jobSpec returns the common schema of CSI-Addons' jobs. A-RS-1, A-EKR-1
func jobSpec() schema {
	return object("The job.", fields{
		"target": object("The target of the job.", fields{
			"persistentVolumeClaim": immutable(text("The claim with the volume."), "persistentVolumeClaim is immutable"),
		}),
		"backOffLimit":         byDefault(between(number("int32", "The number of retries after which the job fails."), 0, 60), 6),
		"retryDeadlineSeconds": byDefault(between(number("int64", "The number of seconds after its creation in which it may be retried."), 0, 1800), 600),
		"timeout":              atLeast(number("int64", "The deadline of each call to the driver, in seconds."), 60),
	}, "target")
}

func jobStatus() fields {
	return fields{
		"result": text("Succeeded or Failed, once it has ended."), "message": text("How it ended, for people."), "conditions": conditions(),
		"retries":        number("int32", "The number of retries so far."),
		"startTime":      moment("When it began."),
		"completionTime": moment("When it ended."),
	}
}

func job(name, plural, description string, status fields, more ...column) kind {
	return kind{
		group: Group, name: name, plural: plural,
		columns: append([]column{
			{name: "Namespace", kind: "string", path: ".metadata.namespace"}, age,
			{name: "Retries", kind: "integer", path: ".status.retries"},
			{name: "Result", kind: "string", path: ".status.result"},
		}, more...),
		schema: whole(description, jobSpec(), object("How far it is.", status), "spec"),
	}
}

func reclaimSpaceJob() kind {
	status := jobStatus()
	status["reclaimedSpace"] = quantity("How much space it has freed.")
	return job("ReclaimSpaceJob", "reclaimspacejobs", "A ReclaimSpaceJob frees space that a volume does not need.", status,
		column{name: "ReclaimedSpace", kind: "string", path: ".status.reclaimedSpace", priority: 1})
}

func keyRotationJob() kind {
	return job("EncryptionKeyRotationJob", "encryptionkeyrotationjobs", "An EncryptionKeyRotationJob changes the key of a volume.", jobStatus())
}

// quantity is a resource.Quantity.
func quantity(description string) schema {
	return schema{
		Description: description, XIntOrString: true, AnyOf: []schema{{Type: "integer"}, {Type: "string"}},
		Pattern: `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`,
	}
}

// cronJob: A-RS-10. The template drops all fields below its metadata. A-RS-14
func cronJob(name, plural, description string) kind {
	schedule := text("When jobs begin, in the format of cron.")
	schedule.Pattern = ".+"
	spec := object("The schedule and its jobs.", fields{
		"schedule":                   schedule,
		"startingDeadlineSeconds":    number("int64", "The number of seconds by which a job may be late; one that is later is left out."),
		"concurrencyPolicy":          byDefault(choice("The treatment of a job that still runs when the next is due.", "Forbid", "Replace"), "Forbid"),
		"suspend":                    flag("Whether no further jobs begin."),
		"jobTemplate":                object("The jobs.", fields{"metadata": {Type: "object", Description: "Not kept."}, "spec": jobSpec()}, "spec"),
		"successfulJobsHistoryLimit": byDefault(between(number("int32", "The number of jobs kept that succeeded."), 0, 60), 3),
		"failedJobsHistoryLimit":     byDefault(between(number("int32", "The number of jobs kept that failed."), 0, 60), 1),
	}, "jobTemplate", "schedule")
	status := object("The jobs so far.", fields{
		"active":             reference("The job that runs."),
		"lastScheduleTime":   moment("For when the last job was scheduled."),
		"lastSuccessfulTime": moment("When a job last succeeded."),
	})
	return kind{
		group: Group, name: name, plural: plural,
		columns: []column{
			{name: "Schedule", kind: "string", path: ".spec.schedule"},
			{name: "Suspend", kind: "boolean", path: ".spec.suspend"},
			{name: "Active", kind: "string", path: ".status.active.name"},
			{name: "Lastschedule", kind: "date", path: ".status.lastScheduleTime"},
			{name: "Lastsuccessfultime", kind: "date", path: ".status.lastSuccessfulTime", priority: 1}, age,
		},
		schema: whole(description, spec, status, "spec"),
	}
}

func reclaimSpaceCronJob() kind {
	return cronJob("ReclaimSpaceCronJob", "reclaimspacecronjobs", "A ReclaimSpaceCronJob makes ReclaimSpaceJobs on a schedule.")
}

func keyRotationCronJob() kind {
	return cronJob("EncryptionKeyRotationCronJob", "encryptionkeyrotationcronjobs", "An EncryptionKeyRotationCronJob makes EncryptionKeyRotationJobs on a schedule.")
}
