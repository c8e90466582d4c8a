/* SPDX-License-Identifier: Apache-2.0
 *
 * Folders of sessions below $TMPDIR: removed with all that is in them, also those that a parent left
 * which was killed. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/session_internal.h"

enum { FOLDER_DEPTH = 16, PATH_BYTES = 320 };

/* In a session's folder, as long as its parent lives. */
static const char lock_name[] = "lock", lock_text[] = "ridge session\n";

static void remove_at(int parent, const char *name, int depth)
{
    const int descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *const folder = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    const struct dirent *entry;

    if (folder == NULL) {
        if (descriptor >= 0)
            close(descriptor);
        unlinkat(parent, name, 0);
        return;
    }
    while (depth > 0 && (entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_at(dirfd(folder), entry->d_name, depth - 1);
    closedir(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void session_remove_folder(const char *path)
{
    remove_at(AT_FDCWD, path, FOLDER_DEPTH);
}

/* What a parent leaves that was killed: folders ridge.XXXXXX whose lock nobody holds. Only one's own,
 * and only those that hold a lock file: another program's folder, or another user's, is left alone. The
 * lock belongs to the open file, so it ends with the last process that has it, whatever ended that;
 * numbers of processes are used again, locks are not. */
static bool is_left_behind(int folder)
{
    const int lock = openat(folder, lock_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    struct stat info;
    bool is_free = false;

    if (lock < 0)
        return false;
    if (fstat(lock, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
        info.st_size == (off_t)sizeof(lock_text) - 1)
        is_free = flock(lock, LOCK_EX | LOCK_NB) == 0;
    close(lock);
    return is_free;
}

void session_remove_stale(const char *base)
{
    static const char prefix[] = "ridge.";
    DIR *const folders = opendir(base);
    const struct dirent *entry;

    while (folders != NULL && (entry = readdir(folders)) != NULL) {
        struct stat info;
        int folder;

        if (strncmp(entry->d_name, prefix, sizeof(prefix) - 1) != 0 ||
            strlen(entry->d_name) != sizeof(prefix) - 1 + 6)
            continue;
        folder =
            openat(dirfd(folders), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0)
            continue;
        if (fstat(folder, &info) == 0 && info.st_uid == geteuid() && is_left_behind(folder))
            remove_at(dirfd(folders), entry->d_name, FOLDER_DEPTH);
        close(folder);
    }
    if (folders != NULL)
        closedir(folders);
}

int session_lock_folder(const char *folder)
{
    char path[PATH_BYTES], made[PATH_BYTES];
    int lock;

    snprintf(path, sizeof(path), "%s/%s", folder, lock_name);
    snprintf(made, sizeof(made), "%s/.lock", folder);
    lock = open(made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    /* Under its name only when it is whole and held, so that nobody finds it free. */
    if (lock >= 0 &&
        (flock(lock, LOCK_EX | LOCK_NB) != 0 ||
         write(lock, lock_text, sizeof(lock_text) - 1) != (ssize_t)sizeof(lock_text) - 1 ||
         rename(made, path) != 0)) {
        close(lock);
        lock = -1;
    }
    return lock;
}
