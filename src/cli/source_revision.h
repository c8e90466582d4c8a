/* SPDX-License-Identifier: Apache-2.0
 *
 * From which commit a kernel was, most likely: the revision of the git work tree that its file lies in,
 * at the time when its build is filed. */
#ifndef RIDGE_CLI_SOURCE_REVISION_H
#define RIDGE_CLI_SOURCE_REVISION_H

enum { CLI_REVISION_BYTES = 80 };

/* Of a file or folder: "3f21a0c2..." (all digits), with "-dirty" when tracked files differ from the
 * commit, with "?" when that is not known; "" when it is in no work tree or has no commit.
 *
 * The revision is read from HEAD and the refs. Whether something differs is asked of git, where it is
 * there and answers within 5 s: its index has to be compared with its objects. Nothing that the work
 * tree brings along is run: git is not asked, and "?" said, where the configuration in the repository
 * names filters, monitors or further files, which git would run or follow. */
char *cli_source_revision(const char *path, char out[CLI_REVISION_BYTES]);
/* Of what an arm is called: its library or manifest, the current folder for a Python callable, the
 * folder of this program for a family of ridge. "" for anything else. */
char *cli_arm_revision(const char *arm, char out[CLI_REVISION_BYTES]);

#endif
