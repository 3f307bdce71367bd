/*
 * Stops every jtool process that runs with this user's ids, as soon as it can be seen.  A user can
 * do that to the children that root's jtool starts to act as that user.  Ends with its parent.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static pid_t last_pid(void)
{
	FILE *file = fopen("/proc/loadavg", "r");
	int pid = 0;

	if (!file || fscanf(file, "%*s %*s %*s %*s %d", &pid) != 1)
		pid = 0;
	if (file)
		fclose(file);
	return pid;
}

static int is_jtool(pid_t pid)
{
	char path[32], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	/* Not the agent's thread in the JVM: the JVM would stop. */
	return strcmp(name, "jtool\n") == 0 || strcmp(name, "jtool-helper\n") == 0;
}

int main(void)
{
	pid_t before = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	puts("READY");
	fflush(stdout);
	for (;;) {
		pid_t last = last_pid();

		/* Another user's process cannot be stopped: kill(2) fails. */
		for (pid_t pid = last - 3; pid <= last + 1; pid++) {
			if (pid > 1 && is_jtool(pid) && kill(pid, SIGSTOP) == 0 && pid != before) {
				printf("stopped %d\n", (int)pid);
				fflush(stdout);
				before = pid;
			}
		}
	}
}
