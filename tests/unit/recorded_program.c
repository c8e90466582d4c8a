/* SPDX-License-Identifier: Apache-2.0
 *
 * recorded_program WHAT...: what a program with CUDA does, as far as a collector sees it: it loads
 * what CUDA_INJECTION64_PATH names, as the driver does, and makes records through the fake CUPTI,
 * the first that RIDGE_COLLECT_CUPTI lists. Each WHAT is done in turn. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_cupti.h"

enum { MANY = 40000, THREADS = 8 };

static struct {
    void (*start)(void);
    void (*launch)(unsigned thread, const char *name, unsigned graph);
    void (*rest)(unsigned thread);
    void (*wait)(int on);
    void (*marker)(unsigned thread, unsigned id, unsigned flags, unsigned long long at_ns,
                   const char *name, const char *domain);
    unsigned (*flush)(uint32_t flags);
} fake;

static void take(void *library, const char *name, void *member)
{
    void *const address = dlsym(library, name);

    if (address == NULL) {
        fprintf(stderr, "no %s: %s\n", name, dlerror());
        exit(99);
    }
    memcpy(member, &address, sizeof(address));
}

static void load_fake(void)
{
    const char *const paths = getenv("RIDGE_COLLECT_CUPTI");
    char path[1024];
    void *library;

    if (paths == NULL)
        exit(99);
    snprintf(path, sizeof(path), "%.*s", (int)strcspn(paths, "\n"), paths);
    library = dlopen(path, RTLD_NOW);
    if (library == NULL)
        return; /* what the collector has to cope with */
    take(library, "fake_cupti_start", &fake.start);
    take(library, "fake_cupti_launch", &fake.launch);
    take(library, "fake_cupti_rest", &fake.rest);
    take(library, "fake_cupti_wait", &fake.wait);
    take(library, "fake_cupti_marker", &fake.marker);
    take(library, "cuptiActivityFlushAll", &fake.flush);
}

static void inject(const char *variable, const char *name, int expected)
{
    void *const library = dlopen(getenv(variable), RTLD_NOW);
    int (*entry)(void *) = NULL;

    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(99);
    }
    take(library, name, &entry);
    if (entry(&fake) != expected)
        exit(98);
}

/* CUPTI keeps names; so does this. */
static char names[50][64];

static void *launch_many(void *argument)
{
    const unsigned thread = *(const unsigned *)argument;
    int i;

    for (i = 0; i < MANY / THREADS; i++)
        fake.launch(thread, names[i % 50], 0);
    return NULL;
}

static void start_threads(void)
{
    unsigned numbers[THREADS];
    pthread_t threads[THREADS];
    size_t i;

    for (i = 0; i < 50; i++)
        snprintf(names[i], sizeof(names[i]), "_Z7kernel%zuILi%zuEEvPf", i % 9, i);
    for (i = 0; i < THREADS; i++) {
        numbers[i] = (unsigned)(2000 + i);
        if (pthread_create(&threads[i], NULL, launch_many, &numbers[i]) != 0)
            exit(99);
    }
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void ranges(void)
{
    fake.marker(1001, 1, 2, 0, "outer", NULL);
    fake.marker(1001, 2, 2, 10, "inner", NULL);
    fake.marker(1001, 2, 4, 20, NULL, NULL);
    fake.marker(1001, 3, 2, 30, "crosses", "library");
    fake.marker(1001, 1, 4, 40, NULL, NULL);
    fake.marker(1001, 3, 4, 50, NULL, NULL);
    fake.marker(1001, 4, 2, 60, "other thread", NULL);
    fake.marker(1002, 4, 4, 70, NULL, NULL);
    fake.marker(1001, 5, 1, 80, "mark", NULL);
    fake.marker(1001, 6, 2, 90, "open", NULL);
}

/* A child that runs on without CUDA, and ends as Python's do or by exit(). */
static void fork_child(void)
{
    const pid_t child = fork();

    if (child == 0)
        exit(0); /* runs what is registered for it */
    waitpid(child, NULL, 0);
}

static void do_one(const char *what)
{
    if (strcmp(what, "cuda") == 0) {
        load_fake();
        inject("CUDA_INJECTION64_PATH", "InitializeInjection", 1);
        inject("CUDA_INJECTION64_PATH", "InitializeInjection", 1);
        if (fake.start != NULL)
            fake.start();
    } else if (strcmp(what, "nvtx") == 0) {
        inject("NVTX_INJECTION64_PATH", "InitializeInjectionNvtx2", 1);
    } else if (strcmp(what, "launch") == 0) {
        fake.launch(1001, "_ZN2ns6kernelILi4E6float4EEvPKT0_i", 0);
    } else if (strcmp(what, "graph") == 0) {
        fake.launch(1001, "plain", 3);
    } else if (strcmp(what, "rest") == 0) {
        fake.rest(1001);
    } else if (strcmp(what, "ranges") == 0) {
        ranges();
    } else if (strcmp(what, "threads") == 0) {
        start_threads();
    } else if (strcmp(what, "fork") == 0) {
        fork_child();
    } else if (strcmp(what, "flush") == 0) {
        fake.flush(0);
    } else if (strcmp(what, "on") == 0) {
        fake.wait(1);
    } else if (strcmp(what, "off") == 0) {
        fake.wait(0);
    } else if (strcmp(what, "kill") == 0) {
        raise(SIGKILL);
    } else if (strcmp(what, "quit") == 0) {
        _exit(0);
    } else {
        exit((int)strtol(what, NULL, 10));
    }
}

int main(int argc, char **argv)
{
    int i;

    for (i = 1; i < argc; i++)
        do_one(argv[i]);
    return 0;
}
